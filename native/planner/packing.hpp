// Device vectors as 128-bit numbers, so that adding and comparing them are single operations.
//
// Type t has a field of w_t bits; its top bit is a guard. `start()` presets the fields so that a guard bit is set
// exactly when more devices of that type are used than there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidewise::planner {

using Packed = unsigned __int128;

class Packing {
 public:
  explicit Packing(const std::vector<int>& devices) {
    for (int count : devices) {
      int width = 2;  // room for count, one overflow and the guard
      while ((1LL << width) <= 2LL * count + 1) ++width;
      ++width;
      shift_.push_back(bits_);
      if (bits_ + width <= 128) {
        guard_ |= Packed{1} << (bits_ + width - 1);
        start_ += Packed((1LL << (width - 1)) - 1 - count) << bits_;
      }
      bits_ += width;
    }
  }

  // Whether all types fit; if not, packed numbers mean nothing.
  bool fits() const { return bits_ <= 128; }

  Packed one(int type, int count) const { return Packed(count) << shift_[type]; }

  Packed pack(const std::vector<int>& use) const {
    Packed packed = 0;
    for (std::size_t t = 0; t < use.size(); ++t) packed += one(static_cast<int>(t), use[t]);
    return packed;
  }

  Packed start() const { return start_; }
  bool overflows(Packed sum_from_start) const { return (sum_from_start & guard_) != 0; }

 private:
  std::vector<int> shift_;
  int bits_ = 0;
  Packed guard_ = 0;
  Packed start_ = 0;
};

struct PackedHash {
  std::size_t operator()(Packed key) const {
    uint64_t mixed = static_cast<uint64_t>(key) ^ (static_cast<uint64_t>(key >> 64) * 0x9E3779B97F4A7C15ull);
    mixed ^= mixed >> 31;
    mixed *= 0xBF58476D1CE4E5B9ull;
    return mixed ^ (mixed >> 29);
  }
};

}  // namespace tidewise::planner
