#include "tensors.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "sentences.hpp"

namespace tidewise::worker {
namespace {

bool is_aligned(const Input& input) {
  return reinterpret_cast<std::uintptr_t>(input.data) % item_size(input.type) == 0;
}

// Join one input of all parts, and pad it.
char* join(const std::vector<Rows>& parts, std::size_t place, std::int64_t padding, char* memory) {
  char* end = memory;
  const std::size_t row = (*parts.front().inputs)[place].row_bytes();
  for (const Rows& part : parts) {
    const Input& input = (*part.inputs)[place];
    std::memcpy(end, input.data + std::size_t(part.start) * row, std::size_t(part.rows) * row);
    end += std::size_t(part.rows) * row;
  }
  for (; padding > 0; --padding, end += row) std::memcpy(end, end - row, row);
  return memory;
}

}  // namespace

std::size_t item_size(Type type) {
  switch (type) {
    case Type::kUint8: case Type::kInt8: case Type::kBool: return 1;
    case Type::kUint16: case Type::kInt16: case Type::kFloat16: return 2;
    case Type::kFloat32: case Type::kInt32: case Type::kUint32: return 4;
    case Type::kInt64: case Type::kFloat64: case Type::kUint64: return 8;
  }
  return 0;
}

std::size_t count_items(const Shape& shape, std::size_t from) {
  std::size_t items = 1;
  for (std::size_t axis = from; axis < shape.size(); ++axis) items *= std::size_t(shape[axis]);
  return items;
}

char* Scratch::take(std::size_t place, std::size_t bytes) {
  if (place >= blocks_.size()) blocks_.resize(place + 1);
  Block& block = blocks_[place];
  if (block.bytes < bytes) block = {std::unique_ptr<char[]>(new char[bytes]), bytes};
  return block.memory.get();
}

std::vector<TensorView> assemble(const std::vector<Rows>& parts, std::int64_t size, Scratch& scratch) {
  std::int64_t total = 0;
  for (const Rows& part : parts) total += part.rows;
  const std::int64_t padding = std::max<std::int64_t>(0, size - total);
  const std::vector<Input>& first = *parts.front().inputs;
  std::vector<TensorView> views;
  views.reserve(first.size());
  for (std::size_t place = 0; place < first.size(); ++place) {
    const Input& input = first[place];
    Shape shape = input.shape;
    shape.front() = total + padding;
    const std::size_t bytes = std::size_t(total + padding) * input.row_bytes();
    const bool shared = parts.size() == 1 && padding == 0 && is_aligned(input);
    char* data = shared ? const_cast<char*>(input.data) + std::size_t(parts.front().start) * input.row_bytes()
                        : join(parts, place, padding, scratch.take(place, std::max<std::size_t>(bytes, 1)));
    views.push_back({input.name, input.type, std::move(shape), data, bytes});
  }
  return views;
}

std::vector<Piece> split(const std::vector<std::string>& names, const std::vector<Tensor>& outputs,
                         const std::vector<Rows>& parts) {
  std::int64_t total = 0;
  for (const Rows& part : parts) total += part.rows;
  for (std::size_t place = 0; place < outputs.size(); ++place)
    if (outputs[place].shape.empty() || outputs[place].shape.front() < total)
      throw std::runtime_error("output " + quoted(names[place]) + " has shape " + listed(outputs[place].shape) +
                               " for a batch of " + std::to_string(total) + " rows");
  std::vector<Piece> pieces;
  pieces.reserve(parts.size());
  std::int64_t start = 0;
  for (const Rows& part : parts) {
    Piece piece = outputs;
    for (Tensor& one : piece) {
      one.data += std::size_t(start) * count_items(one.shape, 1) * item_size(one.type);
      one.shape.front() = part.rows;
    }
    pieces.push_back(std::move(piece));
    start += part.rows;
  }
  return pieces;
}

}  // namespace tidewise::worker
