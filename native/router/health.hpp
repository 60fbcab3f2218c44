// Whether queries may be sent to the process at an address: router/health.py in C++.
#pragma once

namespace tidewise::router {

enum class State { in, suspect, out };
enum class Event { lost, silent, answered, unanswered };

struct Health {
  State state = State::in;
  int failures = 0;        // probes in a row
  double probe_at = 0;     // when the next probe is due; 0: none is
  bool routed() const { return state != State::out; }
};

Health step(const Health& health, Event event, double now);

}  // namespace tidewise::router
