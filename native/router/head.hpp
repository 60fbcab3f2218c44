// What a router reads of a query and of an answer: router/head.py does the same in Python.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidewise::router {

constexpr size_t kWhole = 64 * 1024;  // bytes up to which a message is waited for and read whole

/// What decides a query's way; `budget` is its own deadline_ms in seconds.
struct Head {
  std::string application, version, id;
  std::optional<double> budget;
};

/// What a worker says of its answer; times in seconds.
struct AnswerHead {
  std::string version;
  double queued = 0, computed = 0;
  int64_t batch = 1;
};

enum class Reading {
  done,   // the head is known
  more,   // it may go on in bytes to come
  wrong,  // this is no message of the kind; `error` says why
};

/// Read the head of a ModelInferRequest. `size` of the message's `total` bytes are there. A message larger than kWhole
/// is done as soon as its name is known and its tensors begin: every known encoder writes fields in order.
Reading read_head(std::string_view bytes, size_t total, Head& head, std::string& error);

/// Read the head of a ModelInferResponse from its first bytes; none if it cannot be read.
std::optional<AnswerHead> read_answer(std::string_view bytes, size_t total);

}  // namespace tidewise::router
