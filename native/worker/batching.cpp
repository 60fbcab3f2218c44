#include "batching.hpp"

#include <algorithm>
#include <map>

namespace tidewise::worker {
namespace {

using Limit = std::optional<std::int64_t>;

Decision drop(std::size_t count) { return {Decision::Kind::drop, count}; }

Decision run(Lane::Fit fit, const Servable& servable, Cause cause) {
  return {Decision::Kind::run, fit.count, fit.rows, servable.padded[std::size_t(fit.rows)], cause};
}

std::int64_t bounded(const Servable& servable, Limit limit) {
  return limit ? std::min<std::int64_t>(*limit, servable.cap()) : servable.cap();
}

// How many queries at the head cannot end in time in the batch that would be filled with them.
std::size_t count_hopeless(const Lane& lane, const Servable& servable, double now, Limit limit = std::nullopt) {
  const std::int64_t cap = bounded(servable, limit);
  for (std::size_t place = 0; place < lane.size(); ++place) {
    const std::int64_t rows = std::max(lane.fitting(place, cap).rows, lane[place].rows);
    if (now + servable.span(rows) <= lane[place].deadline + kSlack) return place;
  }
  return lane.size();
}

// Wait, or run if that time has come.
Decision wait_until(double until, Decision decision, double now) {
  if (now < until - kSlack) return {Decision::Kind::wait, 0, 0, 0, Cause::idle, until};
  decision.cause = Cause::deadline;
  return decision;
}

Decision filled(const Lane& lane, const Servable& servable, double now) {
  const std::size_t hopeless = count_hopeless(lane, servable, now);
  return hopeless ? drop(hopeless) : fill(lane, servable, Cause::idle);
}

bool runs_at_once(const Decision& decision) {
  return decision.kind != Decision::Kind::run || decision.cause == Cause::full;
}

double latency(const Servable& servable, std::int64_t rows) { return servable.latency[std::size_t(rows)]; }

Decision eager(const Lane& lane, const Servable& servable, double now, int) {
  const std::int64_t limit = servable.brisk[std::size_t(std::min<std::int64_t>(lane.total(), servable.cap()))];
  const std::size_t hopeless = count_hopeless(lane, servable, now, limit);
  if (hopeless) return drop(hopeless);
  const auto fit = lane.fitting(0, limit);
  return run(fit, servable, fit.count < lane.size() || fit.rows == servable.cap() ? Cause::full : Cause::idle);
}

Decision deadline(const Lane& lane, const Servable& servable, double now, int) {
  const Decision decision = filled(lane, servable, now);
  if (runs_at_once(decision)) return decision;
  return wait_until(lane[0].deadline - latency(servable, decision.rows + 1), decision, now);
}

Decision nexus(const Lane& lane, const Servable& servable, double now, int) {
  const Decision decision = filled(lane, servable, now);
  if (runs_at_once(decision)) return decision;
  return wait_until(lane[0].deadline - latency(servable, servable.cap()), decision, now);
}

Decision aimd(const Lane& lane, const Servable& servable, double now, int target) {
  const std::int64_t limit = std::max<std::int64_t>(target, lane[0].rows);
  const std::size_t hopeless = count_hopeless(lane, servable, now, limit);
  if (hopeless) return drop(hopeless);
  const Decision decision = fill(lane, servable, Cause::idle, limit);
  if (decision.cause == Cause::full) return decision;
  return wait_until(lane[0].deadline - latency(servable, decision.rows), decision, now);
}

// The fewest rows, more than are queued, that make a batch of the best rate; 0 if there are none.
int next_larger(const Lane& lane, const Servable& servable) {
  for (std::int64_t rows = lane.total() + 1; rows <= servable.cap(); ++rows)
    if (servable.brisk[std::size_t(rows)] == rows) return int(rows);
  return 0;
}

// worker/adaptive.py
Decision adaptive(const Lane& lane, const Servable& servable, double now, int target) {
  constexpr double kNeeded = 0.85, kBetter = 1.02, kPatience = 2.0;
  const Decision decision = eager(lane, servable, now, target);
  if (runs_at_once(decision)) return decision;
  const int larger = next_larger(lane, servable);
  if (larger == 0) return decision;
  const double gap = (now - lane[0].query->arrived) / double(lane.total());
  const double wait = double(larger - lane.total()) * gap, span = latency(servable, larger);
  const double rate = double(decision.rows) / latency(servable, decision.rows), latest = lane[0].deadline - span;
  if (gap * rate * kNeeded > 1 || now + wait > latest || larger < kBetter * rate * (span + wait)) return decision;
  return wait_until(std::min(latest, now + kPatience * wait), decision, now);
}

Decision published(const Lane& lane, const Servable& servable, double now, int) {
  int size = servable.sizes[0];
  for (const int one : servable.sizes)
    if (one <= lane.total()) size = std::max(size, one);
  const Decision decision = fill(lane, servable, Cause::idle, size);
  std::int64_t following = servable.cap();
  for (auto one = servable.sizes.rbegin(); one != servable.sizes.rend(); ++one)
    if (*one > decision.rows) following = *one;
  const bool reached = lane.total() + 1 >= following;
  const std::int64_t reckoned = reached ? following : std::min<std::int64_t>(decision.rows, servable.cap());
  return wait_until(lane[0].deadline - latency(servable, reckoned), decision, now);
}

Decision single(const Lane& lane, const Servable& servable, double now, int) {
  const std::size_t hopeless = count_hopeless(lane, servable, now, 1);
  return hopeless ? drop(hopeless) : fill(lane, servable, Cause::idle, 1);
}

int keep(int target, const std::vector<int>&, bool) { return target; }

int aimd_learn(int target, const std::vector<int>& sizes, bool late) {
  std::ptrdiff_t place = -1;
  for (const int size : sizes) place += size <= target;
  place += late ? -1 : 1;
  return sizes[std::size_t(std::clamp<std::ptrdiff_t>(place, 0, std::ptrdiff_t(sizes.size()) - 1))];
}

}  // namespace

Decision fill(const Lane& lane, const Servable& servable, Cause cause, Limit limit) {
  const std::int64_t cap = bounded(servable, limit);
  const auto fit = lane.fitting(0, cap);
  return run(fit, servable, fit.rows == cap || fit.count < lane.size() ? Cause::full : cause);
}

const Rule* rule_named(const std::string& name) {
  static const std::map<std::string, Rule> rules{
      {"eager", {eager, keep}},         {"deadline", {deadline, keep}}, {"nexus", {nexus, keep}},
      {"aimd", {aimd, aimd_learn}},     {"adaptive", {adaptive, keep}}, {"published", {published, keep}}, {"single", {single, keep}},
  };
  const auto found = rules.find(name);
  return found == rules.end() ? nullptr : &found->second;
}

}  // namespace tidewise::worker
