// Bytes of a message: copied once out of the receive buffer, then only pointed into.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace tidewise::router {

/// Part of a block that several queues may share; the block is freed with the last of them.
struct Slice {
  std::shared_ptr<char[]> block;
  size_t offset = 0;
  size_t size = 0;

  const char* data() const { return block.get() + offset; }
};

inline Slice copy_of(const uint8_t* data, size_t size) {
  std::shared_ptr<char[]> block(new char[size ? size : 1]);
  std::memcpy(block.get(), data, size);
  return {std::move(block), 0, size};
}

}  // namespace tidewise::router
