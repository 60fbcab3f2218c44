#include "machine.hpp"

#include <algorithm>
#include <utility>

#include "margin.hpp"

namespace tidewise::worker {

Machine::Machine(const Policy& policy, std::vector<double> bounds)
    : policy_(policy), queue_(policy.max_queue), repertoire_(policy.linger), counters_(std::move(bounds)),
      margin_(policy.reserve) {}

Actions Machine::arrived(const QueryPtr& query, double now) {
  ++counters_.arrivals[query->lane.application];
  if (!repertoire_.takes(query->lane, now)) return {ended(query, Reason::no_worker)};
  if (queue_.full()) return {ended(query, Reason::queue_full)};
  queue_.add(query);
  return settled({}, now);
}

Actions Machine::batch_done(double now, const Failures& failures) {
  const BatchPtr batch = std::exchange(running_, nullptr);
  const auto gone = std::exchange(gone_, {});
  VariantCounters& counts = counters_.batch_done(*batch, now);
  Actions actions;
  bool late = false;
  for (const Part& part : batch->parts) {
    const QueryPtr& query = part.query;
    if (gone.count(query->id)) {
      late = late || now > query->deadline + kSlack;
      continue;
    }
    const auto failure = failures.find(query->id);
    if (failure != failures.end()) {
      queue_.cancel(query->id);
      ++counts.failed;
      actions.push_back(ended(query, Reason::engine, failure->second));
    } else if (part.last()) {
      const bool missed = now > query->deadline + kSlack;
      late = late || missed;
      counters_.answered(*query, *batch, missed, counts, now);
      actions.push_back({Action::Kind::answered, batch, query});
    }
  }
  learn(*batch, late, now);
  return settled(std::move(actions), now);
}

Actions Machine::timer(double now) { return settled({}, now); }

Actions Machine::cancelled(std::uint64_t id, double now, Reason reason) {
  QueryPtr query = queue_.cancel(id);
  if (query == nullptr) query = running_query(id);
  if (query == nullptr || gone_.count(id)) return {};
  return settled({ended(query, reason)}, now);
}

Actions Machine::hosted(const Hosted& hosted, double now) {
  repertoire_.decided(hosted, now);
  return settled({}, now);
}

Actions Machine::drain(double now) {
  draining_ = true;
  return settled({}, now);
}

Actions Machine::settled(Actions actions, double now) {
  if (queue_.next_deadline() <= now)
    for (const QueryPtr& query : queue_.expire(now)) actions.push_back(ended(query, Reason::deadline));
  wait_ = kNever;
  if (running_ == nullptr) dispatch(actions, now);
  wake_ = std::min(wait_, queue_.next_deadline());
  if (repertoire_.lingers()) {
    std::set<std::string> queued;
    for (const Lane* lane : queue_.all()) queued.insert(lane->key.application);
    for (Model& model : repertoire_.release(now, [this](const Model& one) { return needed(one); }, std::move(queued)))
      actions.push_back({Action::Kind::released, nullptr, nullptr, Reason::deadline, {}, std::move(model)});
    wake_ = std::min(wake_, repertoire_.next_release(now));
  }
  return actions;
}

void Machine::dispatch(Actions& actions, double now) {
  for (Lane* lane : queue_.by_urgency()) {
    Decided decided;
    if (!decide(*lane, decided, actions, now)) continue;
    if (decided.decision.kind == Decision::Kind::wait)
      wait_ = decided.decision.until - margin_ - policy_.reserve;
    else
      start(*lane, decided, actions, now);
    return;
  }
}

bool Machine::decide(Lane& lane, Decided& decided, Actions& actions, double now) {
  const double margin = margin_;
  for (std::size_t left = lane.size(); left > 0;) {
    decided.servable = policy_.choice(lane, repertoire_.candidates(lane.key), now + margin);
    decided.decision = policy_.rule->decide(lane, *decided.servable, now + margin, target_);
    const bool waits = decided.decision.kind == Decision::Kind::wait;
    const bool due = waits && decided.decision.until - margin - policy_.reserve <= now + kSlack;
    if (due)
      decided.decision = policy_.rule->decide(lane, *decided.servable, decided.decision.until, target_);
    if (due && decided.decision.kind == Decision::Kind::wait)  // what is over must not begin anew
      decided.decision = fill(lane, *decided.servable, Cause::deadline);
    if (decided.decision.kind == Decision::Kind::drop) {
      left -= decided.decision.count;  // the lane is gone with its last query
      for (const Place& one : queue_.pop(lane, decided.decision.count))
        actions.push_back(ended(one.query, Reason::hopeless));
      continue;
    }
    const bool alone = !draining_ && queue_.lanes() == 1;  // else waiting would be at others' cost
    if (decided.decision.kind == Decision::Kind::wait && !alone)
      decided.decision = fill(lane, *decided.servable, draining_ ? Cause::drain : Cause::idle);
    return true;
  }
  margin_ = relaxed(margin, policy_.reserve);
  return false;
}

void Machine::start(Lane& lane, const Decided& decided, Actions& actions, double now) {
  const Decision& decision = decided.decision;
  auto batch = std::make_shared<Batch>();
  for (Place& one : queue_.pop(lane, decision.count)) {
    const std::int64_t before = one.query->rows - one.rows;
    batch->parts.push_back({std::move(one.query), before, one.rows});
  }
  Part& first = batch->parts.front();
  if (decision.rows < first.rows) {
    queue_.requeue(first.query, first.rows - decision.rows, decided.servable->model.variant);
    first.rows = decision.rows;
    batch->parts.resize(1);
  }
  batch->servable = decided.servable;
  batch->rows = decision.rows;
  batch->size = decision.size;
  batch->cause = decision.cause;
  batch->started = now;
  batch->plan_version = repertoire_.plan_version(decided.servable->model.application);
  running_ = std::move(batch);
  ++counters_.dispatches[decision.cause];
  actions.push_back({Action::Kind::start, running_});
}

void Machine::learn(const Batch& batch, bool late, double now) {
  const double expected = batch.servable->latency[std::size_t(batch.rows)], took = now - batch.started;
  margin_ = renewed(margin_, expected, took, policy_.reserve);
  target_ = policy_.rule->learn(target_, batch.servable->sizes, late);
}

QueryPtr Machine::running_query(std::uint64_t id) const {
  if (running_ == nullptr) return nullptr;
  for (const Part& part : running_->parts)
    if (part.query->id == id) return part.query;
  return nullptr;
}

Action Machine::ended(const QueryPtr& query, Reason reason, std::string text) {
  if (running_query(query->id) != nullptr) gone_.insert(query->id);
  ++counters_.ended[{query->lane.application, reason}];
  return {Action::Kind::ended, nullptr, query, reason, std::move(text)};
}

bool Machine::needed(const Model& model) const {
  if (running_ != nullptr && running_->servable->model == model) return true;
  for (const Lane* lane : queue_.all())
    if (lane->key.application == model.application)
      for (const ServablePtr& one : repertoire_.candidates(lane->key))
        if (one->model == model) return true;
  return false;
}

}  // namespace tidewise::worker
