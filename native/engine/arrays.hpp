// numpy arrays to tensors and back, without copying where memory allows.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "tensor.hpp"

namespace tidewise {

// Arrays made contiguous where they were not, and the views into them; the views live as long as the arrays.
struct Inputs {
  std::vector<pybind11::array> arrays;
  std::vector<TensorView> views;
};

// numpy's types and ours. Throw OrtError naming a tensor whose type is no number.
ort_abi::Type type_of(const std::string& name, const pybind11::dtype& dtype);
const pybind11::dtype& dtype_of(const std::string& name, ort_abi::Type type);

// Views of a dict from name to array. Throws OrtError naming an array of a type that is no number.
Inputs read_inputs(const pybind11::dict& inputs);

// An array that owns the tensor and shares its memory.
pybind11::array to_array(const std::string& name, OwnedTensor tensor);

}  // namespace tidewise
