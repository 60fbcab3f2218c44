#include "session.hpp"

#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tidewise {
namespace {

using NameOf = ort_abi::Status* (*)(const ort_abi::Session*, std::size_t, ort_abi::Allocator*, char**);

struct ReleaseOptions {
  const Library* library;
  void operator()(ort_abi::SessionOptions* options) const { library->api().release_session_options(options); }
};
using OwnedOptions = std::unique_ptr<ort_abi::SessionOptions, ReleaseOptions>;

// Explicit threads that never spin while idle, and no memory pattern, since batch sizes change from run to run.
OwnedOptions make_options(const Library& library, int threads) {
  const ort_abi::Api& api = library.api();
  ort_abi::SessionOptions* raw = nullptr;
  library.check(api.create_session_options(&raw));
  OwnedOptions options(raw, ReleaseOptions{&library});
  library.check(api.set_intra_op_threads(raw, threads));
  library.check(api.set_inter_op_threads(raw, 1));
  library.check(api.set_log_level(raw, ort_abi::kLogFatal));
  library.check(api.disable_memory_pattern(raw));
  library.check(api.add_session_config_entry(raw, "session.intra_op.allow_spinning", "0"));
  library.check(api.add_session_config_entry(raw, "session.inter_op.allow_spinning", "0"));
  return options;
}

std::vector<std::string> read_names(const Library& library, const ort_abi::Session* session, std::size_t count,
                                    NameOf name_of) {
  std::vector<std::string> names;
  for (std::size_t index = 0; index < count; ++index) {
    char* name = nullptr;
    library.check(name_of(session, index, library.allocator(), &name));
    names.emplace_back(name);
    library.check(library.api().free(library.allocator(), name));
  }
  return names;
}

std::vector<OwnedValue> own(const Library& library, const std::vector<ort_abi::Value*>& raw) {
  std::vector<OwnedValue> owned;
  for (ort_abi::Value* value : raw) owned.emplace_back(value, ReleaseValue{&library});
  return owned;
}

// What a model leaves behind in the allocator's free lists goes back to the system.
void trim_heap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace

Session::Session(const Library& library, const std::string& model, int threads)
    : library_(library), session_(nullptr, ReleaseSession{&library}) {
  const ort_abi::Api& api = library_.api();
  const OwnedOptions options = make_options(library_, threads);
  ort_abi::Session* raw = nullptr;
  library_.check(api.create_session(library_.env(), model.c_str(), options.get(), &raw));
  session_.reset(raw);
  std::size_t inputs = 0, outputs = 0;
  library_.check(api.input_count(raw, &inputs));
  library_.check(api.output_count(raw, &outputs));
  inputs_ = read_names(library_, raw, inputs, api.input_name);
  outputs_ = read_names(library_, raw, outputs, api.output_name);
}

std::vector<OwnedTensor> Session::run(const std::vector<TensorView>& inputs, const std::vector<std::string>& outputs) {
  std::vector<OwnedValue> wrapped;
  std::vector<const ort_abi::Value*> values;
  std::vector<const char*> input_names, output_names;
  for (const TensorView& view : inputs) {
    wrapped.push_back(wrap(library_, view));
    values.push_back(wrapped.back().get());
    input_names.push_back(view.name.c_str());
  }
  for (const std::string& name : outputs) output_names.push_back(name.c_str());

  std::vector<ort_abi::Value*> raw(outputs.size(), nullptr);
  ort_abi::Status* status = nullptr;
  {
    std::lock_guard<std::mutex> turn(mutex_);
    if (session_ == nullptr) throw OrtError("it was closed");
    status = library_.api().run(session_.get(), nullptr, input_names.data(), values.data(), values.size(),
                                output_names.data(), output_names.size(), raw.data());
  }
  std::vector<OwnedValue> owned = own(library_, raw);
  library_.check(status);

  std::vector<OwnedTensor> tensors;
  for (std::size_t index = 0; index < owned.size(); ++index)
    tensors.push_back(unwrap(library_, outputs[index], std::move(owned[index])));
  return tensors;
}

void Session::close() {
  std::lock_guard<std::mutex> turn(mutex_);
  if (session_ == nullptr) return;
  session_.reset();
  trim_heap();
}

}  // namespace tidewise
