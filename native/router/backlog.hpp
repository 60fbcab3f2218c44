#pragma once

namespace tidewise::router {

/// What this router has sent to one worker and not heard back of. `since` is when its first query can have begun: at
/// the last answer, or at the send that ended idleness.
struct Backlog {
  int outstanding = 0;
  double since = 0;

  void begun(double now) {
    if (outstanding++ == 0) since = now;
  }
  /// Only an answer shows that the worker moved on.
  void ended(double now, bool answered) {
    --outstanding;
    if (answered) since = now;
  }
};

}  // namespace tidewise::router
