#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "slice.hpp"

namespace tidewise::router {

/// What a connection has still to write: small frames by copy, message bytes by reference.
class Output {
 public:
  enum class Result { all, blocked, broken };

  void add(const uint8_t* data, size_t size);
  void add(Slice slice);
  size_t size() const { return size_; }

  /// Write as much as the socket takes.
  Result write_to(int fd);

 private:
  struct Part {
    std::string own;  // used if the slice is empty
    Slice slice;
    const char* data() const { return slice.block ? slice.data() : own.data(); }
    size_t size() const { return slice.block ? slice.size : own.size(); }
  };
  void drop(size_t written);

  std::deque<Part> parts_;
  size_t front_ = 0;  // bytes of the first part that are written
  size_t size_ = 0;
};

}  // namespace tidewise::router
