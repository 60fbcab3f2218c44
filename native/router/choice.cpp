#include "choice.hpp"

#include <algorithm>

namespace tidewise::router {

namespace {

/// Of what could be done since the last answer: else a full queue looked as empty as an idle worker's.
constexpr double kCredit = 0.9;

/// (Outstanding + 1) / share less what is done of it, as Python computes it, to the last bit.
double weighted_backlog(const Lane& lane, double now) {
  const Backlog& backlog = *lane.backlog;
  const double here = lane.cost * (backlog.outstanding + 1);
  if (backlog.outstanding == 0) return here;
  const double elapsed = now - backlog.since;
  if (elapsed < 0 || elapsed >= std::max(lane.cost, lane.batch)) return here;
  return here - kCredit * std::min(elapsed, lane.cost * backlog.outstanding);
}

template <typename Key>
const Lane& least(const View& view, Key key) {
  const Lane* best = &view.lanes().front();
  double least = key(*best);
  for (size_t index = 1; index < view.lanes().size(); ++index) {
    const double value = key(view.lanes()[index]);
    if (value < least) best = &view.lanes()[index], least = value;
  }
  return *best;
}

/// The lane with the least weighted backlog; among idle workers the cycle decides, so that shares hold.
const Lane& least_backlog(const View& view, double now, uint64_t turn, Generator&) {
  const Lane& best = least(view, [now](const Lane& lane) { return weighted_backlog(lane, now); });
  if (best.backlog->outstanding > 0) return best;
  const auto& cycle = view.cycle();
  for (size_t step = 0; step < view.lanes().size(); ++step) {
    const Lane& lane = view.lanes()[cycle[(turn + step) % cycle.size()]];
    if (lane.backlog->outstanding == 0) return lane;
  }
  return best;
}

const Lane& by_cycle(const View& view, double, uint64_t turn, Generator&) {
  return view.lanes()[view.cycle()[turn % view.cycle().size()]];
}

/// The shorter of two lanes drawn by share.
const Lane& random_pair(const View& view, double now, uint64_t, Generator& generator) {
  const auto& cycle = view.cycle();
  std::uniform_int_distribution<size_t> draw(0, cycle.size() - 1);
  const Lane& first = view.lanes()[cycle[draw(generator)]];
  const Lane& second = view.lanes()[cycle[draw(generator)]];
  return weighted_backlog(second, now) < weighted_backlog(first, now) ? second : first;
}

}  // namespace

Choose policy_named(const std::string& name) {
  if (name == "least-backlog") return least_backlog;
  if (name == "cycle") return by_cycle;
  if (name == "random") return random_pair;
  return nullptr;
}

double predicted_finish(const Lane& lane, double now) {
  const Backlog& backlog = *lane.backlog;
  double ahead = backlog.outstanding * lane.service;
  const double elapsed = now - (backlog.outstanding > 0 ? backlog.since : 0.0);
  if (elapsed >= 0 && elapsed < std::max(lane.service, lane.batch)) ahead = std::max(0.0, ahead - elapsed);
  return ahead + lane.route->fastest;
}

Decision decide(Choose choose, const View& view, double now, double budget, uint64_t turn, Generator& generator) {
  if (view.lanes().empty()) return {};
  const Lane& chosen = choose(view, now, turn, generator);
  if (predicted_finish(chosen, now) <= budget) return {&chosen};
  const Lane& first = least(view, [now](const Lane& lane) { return predicted_finish(lane, now); });
  const double finish = predicted_finish(first, now);
  if (finish <= budget) return {&first};
  return {nullptr, Reason::predicted_late, finish};
}

}  // namespace tidewise::router
