#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidewise::router {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The value of the first header of this name; null if there is none.
inline const std::string* find(const Headers& headers, std::string_view name) {
  for (const auto& header : headers)
    if (header.first == name) return &header.second;
  return nullptr;
}

}  // namespace tidewise::router
