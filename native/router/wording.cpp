#include "wording.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace tidewise::router {

namespace {

constexpr char kHex[] = "0123456789abcdef";

bool continues(char byte) { return (byte & 0xc0) == 0x80; }

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

void add_quoted(std::string& out, unsigned char byte, char quote) {
  if (byte == '\\' || byte == static_cast<unsigned char>(quote)) {
    out += '\\';
    out += char(byte);
  } else if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\r') {
    out += "\\r";
  } else if (byte == '\t') {
    out += "\\t";
  } else if (byte < 0x20 || byte == 0x7f) {
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  } else {
    out += char(byte);
  }
}

/// Bytes of the well-formed character at the start of `text`; 0 if there is none.
size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (size_t index = 1; index < size; ++index)
    if (!continues(text[index])) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : size;
}

}  // namespace

std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char byte : text) add_quoted(out, static_cast<unsigned char>(byte), quote);
  return out += quote;
}

std::string_view shown(std::string_view text, size_t count) {
  size_t end = 0;
  while (end < text.size() && (count > 0 || continues(text[end]))) {
    if (!continues(text[end])) --count;
    ++end;
  }
  return text.substr(0, end);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string hexadecimal(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string tenths(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte >= 0x20 && byte <= 0x7e && byte != '%') {
      out += byte;
    } else {
      out += '%';
      out += char(std::toupper(kHex[(byte >> 4) & 15]));
      out += char(std::toupper(kHex[byte & 15]));
    }
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t index = 0; index < text.size(); ++index) {
    const bool escape = text[index] == '%' && index + 2 < text.size();
    const int high = escape ? hex_value(text[index + 1]) : -1, low = escape ? hex_value(text[index + 2]) : -1;
    if (high < 0 || low < 0) {
      out += text[index];
    } else {
      out += char(high * 16 + low);
      index += 2;
    }
  }
  return out;
}

std::string timeout_text(double seconds) {
  const double microseconds = std::max(1.0, seconds * 1e6);
  if (microseconds < 1e8) return std::to_string(int64_t(microseconds)) + "u";
  if (seconds < 1e5) return std::to_string(int64_t(seconds * 1e3)) + "m";
  return std::to_string(int64_t(std::min(seconds, 99'999'999.0))) + "S";
}

double timeout_seconds(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) return -1;
  double value = 0;
  for (const char digit : text.substr(0, text.size() - 1)) {
    if (digit < '0' || digit > '9') return -1;
    value = value * 10 + (digit - '0');
  }
  switch (text.back()) {
    case 'H': return value * 3600;
    case 'M': return value * 60;
    case 'S': return value;
    case 'm': return value * 1e-3;
    case 'u': return value * 1e-6;
    case 'n': return value * 1e-9;
    default: return -1;
  }
}

}  // namespace tidewise::router
