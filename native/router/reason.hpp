// Why a query was not answered: core/outcome.py, proto/status.py and router/failure.py say the same in Python.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "headers.hpp"

namespace tidewise::router {

enum class Reason {
  deadline, hopeless, predicted_late, queue_full, no_worker, unknown_application, unknown_variant, bad_input,
  too_large, cancelled, worker_lost, engine, draining, internal
};
constexpr int kReasons = int(Reason::internal) + 1;

/// Codes of gRPC.
enum Code {
  kOk = 0, kCancelled = 1, kUnknown = 2, kInvalidArgument = 3, kDeadlineExceeded = 4, kNotFound = 5,
  kPermissionDenied = 7, kResourceExhausted = 8, kUnimplemented = 12, kInternal = 13, kUnavailable = 14,
  kUnauthenticated = 16
};

struct ReasonRow {
  const char* name;
  Code code;
};

const ReasonRow& row(Reason reason);
std::optional<Reason> reason_named(std::string_view name);

/// A query's end without an answer. `trailing` is the worker's own metadata, `heard` whether this is the worker's word
/// at all. `message` is plain text, unless `encoded` (then it is percent-encoded, as it came).
struct Failure {
  Reason reason;
  std::string message;
  int code;
  Headers trailing = {};
  bool heard = false;
  bool encoded = false;

  /// Another worker may still answer: the first is gone, going, or not what the table took it for.
  bool elsewhere() const;
};

Failure failure(Reason reason, std::string message);
/// What a code without a reason of its own means; `details` as the connection or the worker put it, plain.
Failure failure_of(int code, const std::string& details, Headers trailing, const std::string& worker, size_t limit);

}  // namespace tidewise::router
