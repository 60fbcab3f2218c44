#include "engine.hpp"

#include <algorithm>
#include <stdexcept>

#include "../clock.hpp"
#include "sentences.hpp"

namespace tidewise::worker {

std::vector<Tensor> OrtEngine::run(const std::vector<TensorView>& inputs, std::int64_t,
                                   const std::vector<std::string>& outputs) {
  try {
    std::vector<Tensor> tensors;
    for (OwnedTensor& one : session_->run(inputs, outputs)) {
      auto owner = std::make_shared<OwnedValue>(std::move(one.value));
      const auto* data = static_cast<const char*>(one.data);
      tensors.push_back({std::move(owner), one.type, std::move(one.shape), data});
    }
    return tensors;
  } catch (const OrtError& error) {
    throw OrtError(std::string("the model could not run: ") + error.what());  // callers read this: no paths
  }
}

std::vector<Tensor> PacedEngine::run(const std::vector<TensorView>& inputs, std::int64_t rows,
                                     const std::vector<std::string>& outputs) {
  if (std::size_t(rows) >= medians_.size())
    throw std::runtime_error("the variant is profiled up to " + std::to_string(medians_.size() - 1) + " rows, not " +
                             std::to_string(rows));
  const double due = now() + medians_[std::size_t(rows)];
  auto tensors = engine_->run(inputs, rows, outputs);
  sleep_until(due);
  return tensors;
}

std::vector<Tensor> ZeroEngine::run(const std::vector<TensorView>& inputs, std::int64_t rows,
                                    const std::vector<std::string>& outputs) {
  std::vector<Tensor> tensors;
  for (const std::string& name : outputs) {
    const auto spec = std::find_if(outputs_.begin(), outputs_.end(), [&](const Spec& one) { return one.name == name; });
    if (spec == outputs_.end()) throw std::runtime_error("the emulated device has no output " + quoted(name));
    Shape shape{rows};
    for (const std::int64_t axis : spec->shape) shape.push_back(axis == -1 ? free_length(inputs) : axis);
    std::shared_ptr<char[]> zeros(new char[count_items(shape) * item_size(spec->type) + 1]());
    const char* data = zeros.get();
    tensors.push_back({std::move(zeros), spec->type, std::move(shape), data});
  }
  return tensors;
}

std::int64_t ZeroEngine::free_length(const std::vector<TensorView>& inputs) const {
  for (const Spec& spec : inputs_)
    for (std::size_t axis = 0; axis < spec.shape.size(); ++axis)
      if (spec.shape[axis] == -1)
        for (const TensorView& view : inputs)
          if (view.name == spec.name) return view.shape[axis + 1];
  return 1;
}

}  // namespace tidewise::worker
