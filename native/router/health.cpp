#include "health.hpp"

#include <algorithm>
#include <cmath>

namespace tidewise::router {

namespace {
constexpr double kFirstProbe = 0.05, kLastProbe = 1.0;  // seconds

// By state (rows) and event: lost, silent, answered, unanswered.
constexpr State kTransitions[3][4] = {
    {State::out, State::suspect, State::in, State::out},
    {State::out, State::suspect, State::in, State::out},
    {State::out, State::out, State::in, State::out},
};

double probe_delay(int failures) { return std::min(kLastProbe, kFirstProbe * std::pow(2.0, std::min(failures, 10))); }
}  // namespace

Health step(const Health& health, Event event, double now) {
  const State state = kTransitions[int(health.state)][int(event)];
  if (state == State::in) return {};
  const int failures = health.failures + (event == Event::unanswered);
  if (health.probe_at > 0 && (event == Event::lost || event == Event::silent))
    return {state, failures, health.probe_at};  // the probe already due will tell
  return {state, failures, now + (state == State::suspect ? 0.0 : probe_delay(failures))};
}

}  // namespace tidewise::router
