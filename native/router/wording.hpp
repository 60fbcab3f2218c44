// Text as Python and gRPC write it, so that both routers say the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidewise::router {

/// As Python's repr of a str. Letters beyond ASCII are taken to be printable.
std::string quoted(std::string_view text);
/// The first `count` characters (not bytes).
std::string_view shown(std::string_view text, size_t count);
bool is_utf8(std::string_view text);
std::string hexadecimal(uint64_t value);
/// With one decimal.
std::string tenths(double value);
/// As a grpc-message header, and back.
std::string percent_encoded(std::string_view text);
std::string percent_decoded(std::string_view text);
/// Seconds as a grpc-timeout header.
std::string timeout_text(double seconds);
/// Seconds in a grpc-timeout header; negative if it is none.
double timeout_seconds(std::string_view text);

}  // namespace tidewise::router
