#include "reason.hpp"

#include "wording.hpp"

namespace tidewise::router {

namespace {
const ReasonRow kRows[] = {
    {"deadline", kDeadlineExceeded},
    {"hopeless", kDeadlineExceeded},
    {"predicted_late", kResourceExhausted},
    {"queue_full", kResourceExhausted},
    {"no_worker", kUnavailable},
    {"unknown_application", kNotFound},
    {"unknown_variant", kNotFound},
    {"bad_input", kInvalidArgument},
    {"too_large", kResourceExhausted},
    {"cancelled", kCancelled},
    {"worker_lost", kUnavailable},
    {"engine", kInternal},
    {"draining", kUnavailable},
    {"internal", kInternal},
};
}  // namespace

const ReasonRow& row(Reason reason) { return kRows[int(reason)]; }

std::optional<Reason> reason_named(std::string_view name) {
  for (size_t index = 0; index < std::size(kRows); ++index)
    if (name == kRows[index].name) return Reason(index);
  return std::nullopt;
}

bool Failure::elsewhere() const {
  return reason == Reason::worker_lost || reason == Reason::draining || reason == Reason::no_worker;
}

Failure failure(Reason reason, std::string message) { return {reason, std::move(message), row(reason).code}; }

Failure failure_of(int code, const std::string& details, Headers trailing, const std::string& worker, size_t limit) {
  const std::string name = quoted(worker);
  if (code == kUnavailable || code == kCancelled)
    return failure(Reason::worker_lost, "worker " + name + " was lost while it held the query (" + details + ")");
  if (code == kDeadlineExceeded)
    return failure(Reason::deadline, "the deadline passed while worker " + name + " held the query");
  if (code == kResourceExhausted && details.find("larger than max") != std::string::npos)
    return failure(Reason::too_large,
                   "the answer of worker " + name + " exceeds the limit of " + std::to_string(limit) + " bytes");
  Failure found{Reason::internal, details, code};
  found.trailing = std::move(trailing);
  found.heard = true;
  return found;
}

}  // namespace tidewise::router
