// The socket to the Python side: frames of a length, a kind and a payload; little-endian.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "loop.hpp"

namespace tidewise::router {

/// Python's orders (below 64) and what it is told. router/plane_wire.py names the same.
enum class Kind : uint8_t {
  table = 1,      // route by this
  python = 2,     // where the Python side serves
  read = 3,       // say what has been counted
  drain = 4,      // take no more calls, end in so many seconds
  resolved = 5,   // an address, and it in numbers
  applied = 64,   // a table is in force
  counts = 65,    // counted since the last time
  out = 66,       // addresses that cannot be reached, whenever they change
  resolve = 67,   // an address to be looked up
};

class Writer {
 public:
  explicit Writer(Kind kind) : bytes_(4, '\0') { bytes_ += char(kind); }
  void u32(uint32_t value) { number(value); }
  void u64(uint64_t value) { number(value); }
  void f64(double value) { number(value); }
  void text(std::string_view value) {
    u32(uint32_t(value.size()));
    bytes_.append(value);
  }
  /// The whole frame.
  std::string done() {
    const auto size = uint32_t(bytes_.size() - 4);
    std::memcpy(bytes_.data(), &size, sizeof size);
    return std::move(bytes_);
  }

 private:
  template <typename T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string bytes_;
};

/// Reads a payload; `good` turns false, and everything reads as nothing, once it is shorter than it says.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  int64_t i64() { return number<int64_t>(); }
  double f64() { return number<double>(); }
  std::string text() {
    const uint32_t size = u32();
    if (size > bytes_.size()) good_ = false;
    if (!good_) return {};
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  bool good() const { return good_; }

 private:
  template <typename T>
  T number() {
    T value{};
    if (bytes_.size() < sizeof value) good_ = false;
    if (!good_) return value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view bytes_;
  bool good_ = true;
};

class ChannelOwner {
 public:
  virtual ~ChannelOwner() = default;
  virtual void on_order(Kind kind, Reader reader) = 0;
  /// The Python side is gone.
  virtual void on_orphaned() = 0;
};

class Channel : public Pollable {
 public:
  Channel(Loop& loop, int fd, ChannelOwner& owner);
  ~Channel() override;
  void send(std::string frame);
  void ready(uint32_t events) override;
  void flush() override;
  bool idle() const { return out_.empty(); }

 private:
  void take_orders();

  Loop& loop_;
  int fd_;
  ChannelOwner& owner_;
  std::string in_, out_;
};

}  // namespace tidewise::router
