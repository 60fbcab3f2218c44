// Rows of several queries made into one batch, and a batch's outputs cut back into each query's rows: what
// worker/tensors.py does, without copying where memory allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../engine/tensor.hpp"

namespace tidewise::worker {

using ort_abi::Type;

// Bytes of one element; 0 for what is no number.
std::size_t item_size(Type type);
std::size_t count_items(const Shape& shape, std::size_t from = 0);

// One input of a query: rows first, contiguous in C order.
struct Input {
  std::string name;
  Type type;
  Shape shape;
  const char* data;

  std::int64_t rows() const { return shape.front(); }
  std::size_t row_bytes() const { return count_items(shape, 1) * item_size(type); }
};

// A tensor the engine made; `data` lives as long as `owner`.
struct Tensor {
  std::shared_ptr<const void> owner;
  Type type;
  Shape shape;
  const char* data;
};

// The inputs of one part of a query, from row `start` on.
struct Rows {
  const std::vector<Input>* inputs;
  std::int64_t start, rows;
};

// Memory for batches, kept from one to the next.
class Scratch {
 public:
  // At least `bytes` of it; what place held before is gone.
  char* take(std::size_t place, std::size_t bytes);

 private:
  struct Block {
    std::unique_ptr<char[]> memory;
    std::size_t bytes = 0;
  };
  std::vector<Block> blocks_;
};

// The tensors of one batch: the parts' rows in order, then copies of the last row up to `size` rows. Rows of a single
// part that needs no padding are not copied, if they lie as their type demands.
std::vector<TensorView> assemble(const std::vector<Rows>& parts, std::int64_t size, Scratch& scratch);

// Rows of a batch's outputs, in the outputs' order, sharing their memory.
using Piece = std::vector<Tensor>;
// Each part's rows; padding is left behind. Throws std::runtime_error if an output has fewer rows than the batch.
std::vector<Piece> split(const std::vector<std::string>& names, const std::vector<Tensor>& outputs,
                         const std::vector<Rows>& parts);

}  // namespace tidewise::worker
