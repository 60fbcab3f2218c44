#include "wire.hpp"

#include <cstring>

namespace tidewise::router {

uint64_t WireReader::peek() const {
  WireReader copy = *this;
  uint64_t key = 0;
  return copy.varint(key) == WireError::none ? key >> 3 : 0;
}

WireError WireReader::next(Field& field) {
  uint64_t key = 0;
  if (const WireError error = varint(key); error != WireError::none) return error;
  field = {key >> 3, unsigned(key & 7), 0, {}};
  switch (field.type) {
    case 0: return varint(field.value);
    case 1: return fixed(8, field.value);
    case 5: return fixed(4, field.value);
    case 2: break;
    default: return WireError::wire_type;
  }
  uint64_t size = 0;
  if (const WireError error = varint(size); error != WireError::none) return error;
  const size_t left = bytes_.size() - position_;
  declared_ = size > UINT64_MAX - position_ ? UINT64_MAX : position_ + size;
  if (size > left) return WireError::beyond;
  field.bytes = bytes_.substr(position_, size_t(size));
  position_ += size_t(size);
  return WireError::none;
}

WireError WireReader::varint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (position_ == bytes_.size()) return WireError::truncated;
    const auto byte = static_cast<uint8_t>(bytes_[position_++]);
    if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return WireError::none;
  }
  return WireError::long_number;
}

WireError WireReader::fixed(size_t size, uint64_t& value) {
  declared_ = position_ + size;
  if (bytes_.size() - position_ < size) return WireError::beyond;
  std::memcpy(&value, bytes_.data() + position_, size);  // little-endian, as every machine we run on
  position_ += size;
  return WireError::none;
}

}  // namespace tidewise::router
