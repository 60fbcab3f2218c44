// Tensors on their way into and out of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "library.hpp"

namespace tidewise {

using Shape = std::vector<std::int64_t>;

// Rows somebody else owns, contiguous in C order, alive for the length of the run.
struct TensorView {
  std::string name;
  ort_abi::Type type;
  Shape shape;
  void* data;  // ONNX Runtime asks for a mutable pointer and does not write through it
  std::size_t bytes;
};

// Frees a value of ONNX Runtime's.
struct ReleaseValue {
  const Library* library;
  void operator()(ort_abi::Value* value) const { library->api().release_value(value); }
};
using OwnedValue = std::unique_ptr<ort_abi::Value, ReleaseValue>;

// One output; `data` is valid as long as `value` lives, even after its session is gone.
struct OwnedTensor {
  OwnedValue value;
  ort_abi::Type type;
  Shape shape;
  void* data;
};

// A value of ONNX Runtime's over the view's own memory, not copied.
OwnedValue wrap(const Library& library, const TensorView& view);

// The tensor in a value. Throws OrtError if it is no tensor.
OwnedTensor unwrap(const Library& library, const std::string& name, OwnedValue value);

}  // namespace tidewise
