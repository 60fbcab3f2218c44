#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "slice.hpp"

namespace tidewise::router {

constexpr size_t kPrefix = 5;  // bytes before a gRPC message: whether it is compressed, and its length

/// One gRPC message as it arrives, prefix included.
class Message {
 public:
  void add(Slice slice) {
    for (size_t index = 0; index < slice.size && received_ + index < kPrefix; ++index)
      prefix_[received_ + index] = uint8_t(slice.data()[index]);
    received_ += slice.size;
    slices_.push_back(std::move(slice));
  }

  size_t received() const { return received_; }
  bool begun() const { return received_ >= kPrefix; }
  bool compressed() const { return prefix_[0] != 0; }
  size_t size() const {
    return size_t(prefix_[1]) << 24 | size_t(prefix_[2]) << 16 | size_t(prefix_[3]) << 8 | size_t(prefix_[4]);
  }
  bool complete() const { return begun() && received_ >= kPrefix + size(); }
  bool overrun() const { return begun() && received_ > kPrefix + size(); }
  const std::vector<Slice>& slices() const { return slices_; }
  /// Forget the bytes, not how many there were.
  void release() { slices_.clear(); }

  /// What has arrived of the content, in one piece; `joined` holds it if it has to be put together.
  std::string_view content(std::string& joined) const {
    if (slices_.size() == 1) return std::string_view(slices_[0].data(), slices_[0].size).substr(kPrefix);
    for (const Slice& slice : slices_) joined.append(slice.data(), slice.size);
    return std::string_view(joined).substr(kPrefix);
  }

 private:
  uint8_t prefix_[kPrefix] = {};
  size_t received_ = 0;
  std::vector<Slice> slices_;
};

}  // namespace tidewise::router
