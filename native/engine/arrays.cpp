#include "arrays.hpp"

#include <array>
#include <map>
#include <utility>

namespace py = pybind11;

namespace tidewise {
namespace {

struct TypePair {
  char kind;  // numpy's: b bool, u unsigned, i signed, f float
  int size;
  ort_abi::Type type;
};

constexpr std::array<TypePair, 12> kTypes = {{
    {'b', 1, ort_abi::Type::kBool},
    {'u', 1, ort_abi::Type::kUint8},
    {'u', 2, ort_abi::Type::kUint16},
    {'u', 4, ort_abi::Type::kUint32},
    {'u', 8, ort_abi::Type::kUint64},
    {'i', 1, ort_abi::Type::kInt8},
    {'i', 2, ort_abi::Type::kInt16},
    {'i', 4, ort_abi::Type::kInt32},
    {'i', 8, ort_abi::Type::kInt64},
    {'f', 2, ort_abi::Type::kFloat16},
    {'f', 4, ort_abi::Type::kFloat32},
    {'f', 8, ort_abi::Type::kFloat64},
}};

bool is_native(const py::dtype& dtype) { return dtype.byteorder() == '=' || dtype.byteorder() == '|'; }

}  // namespace

ort_abi::Type type_of(const std::string& name, const py::dtype& dtype) {
  for (const TypePair& pair : kTypes)
    if (pair.kind == dtype.kind() && pair.size == dtype.itemsize() && is_native(dtype)) return pair.type;
  throw OrtError("input '" + name + "' has type " + std::string(py::str(dtype)) +
                 ", which is no number of this machine's");
}

namespace {

// Made once: building a dtype from its name costs as much as a small model's run.
const std::map<ort_abi::Type, py::dtype>& dtypes() {
  static const auto& made = *new std::map<ort_abi::Type, py::dtype>([] {
    std::map<ort_abi::Type, py::dtype> all;
    for (const TypePair& pair : kTypes)
      all.emplace(pair.type, py::dtype(std::string(1, pair.kind) + std::to_string(pair.size)));
    return all;
  }());
  return made;
}

}  // namespace

const py::dtype& dtype_of(const std::string& name, ort_abi::Type type) {
  const auto found = dtypes().find(type);
  if (found != dtypes().end()) return found->second;
  throw OrtError("output '" + name + "' has element type " + std::to_string(static_cast<int>(type)) +
                 ", which is no number");
}

Inputs read_inputs(const py::dict& inputs) {
  Inputs read;
  for (const auto& [key, value] : inputs) {
    const auto name = key.cast<std::string>();
    constexpr int kReadable = py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
    auto array = py::array::ensure(value, kReadable);
    if (!array) throw OrtError("input '" + name + "' is not an array");
    TensorView view{name, type_of(name, array.dtype()), {}, const_cast<void*>(array.data()),
                    static_cast<std::size_t>(array.nbytes())};
    view.shape.assign(array.shape(), array.shape() + array.ndim());
    read.views.push_back(std::move(view));
    read.arrays.push_back(std::move(array));
  }
  return read;
}

py::array to_array(const std::string& name, OwnedTensor tensor) {
  const py::dtype& dtype = dtype_of(name, tensor.type);
  auto owner = std::make_unique<OwnedValue>(std::move(tensor.value));
  py::capsule capsule(owner.get(), [](void* value) { delete static_cast<OwnedValue*>(value); });
  owner.release();
  const std::vector<py::ssize_t> shape(tensor.shape.begin(), tensor.shape.end());
  return py::array(dtype, shape, tensor.data, capsule);
}

}  // namespace tidewise
