// Protobuf's wire format, read with a bound on everything.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidewise::router {

enum class WireError { none, truncated, beyond, long_number, wire_type };

/// One field: `number`, and either `value` (numbers, by bit pattern) or `bytes`.
struct Field {
  uint64_t number = 0;
  unsigned type = 0;
  uint64_t value = 0;
  std::string_view bytes;
};

/// Walks over the fields of a message.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return position_ == bytes_.size(); }
  size_t position() const { return position_; }
  /// The number of the field that begins here; 0 if that cannot be read.
  uint64_t peek() const;
  /// Read one field. `beyond`: it ends after the bytes there are (for length-delimited ones `declared` says where).
  WireError next(Field& field);
  uint64_t declared() const { return declared_; }

 private:
  WireError varint(uint64_t& value);
  WireError fixed(size_t size, uint64_t& value);

  std::string_view bytes_;
  size_t position_ = 0;
  uint64_t declared_ = 0;
};

}  // namespace tidewise::router
