#include "tensor.hpp"

#include <utility>

namespace tidewise {
namespace {

struct ReleaseInfo {
  const Library* library;
  void operator()(ort_abi::TensorInfo* info) const { library->api().release_tensor_info(info); }
};

}  // namespace

OwnedValue wrap(const Library& library, const TensorView& view) {
  ort_abi::Value* value = nullptr;
  library.check(library.api().create_tensor_with_data(library.cpu_memory(), view.data, view.bytes, view.shape.data(),
                                                      view.shape.size(), view.type, &value));
  return OwnedValue(value, ReleaseValue{&library});
}

OwnedTensor unwrap(const Library& library, const std::string& name, OwnedValue value) {
  const ort_abi::Api& api = library.api();
  int is_tensor = 0;
  library.check(api.is_tensor(value.get(), &is_tensor));
  if (!is_tensor) throw OrtError("output '" + name + "' is not a tensor");

  ort_abi::TensorInfo* raw = nullptr;
  library.check(api.tensor_info(value.get(), &raw));
  const std::unique_ptr<ort_abi::TensorInfo, ReleaseInfo> info(raw, ReleaseInfo{&library});

  OwnedTensor tensor{std::move(value), ort_abi::Type{}, {}, nullptr};
  std::size_t rank = 0;
  library.check(api.element_type(info.get(), &tensor.type));
  library.check(api.rank(info.get(), &rank));
  tensor.shape.resize(rank);
  library.check(api.shape(info.get(), tensor.shape.data(), rank));
  library.check(api.tensor_data(tensor.value.get(), &tensor.data));
  return tensor;
}

}  // namespace tidewise
