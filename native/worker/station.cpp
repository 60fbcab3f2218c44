#include "station.hpp"

#include <algorithm>
#include <utility>

#include "../clock.hpp"

namespace tidewise::worker {
namespace {

constexpr std::size_t kLateness = 1 << 16;  // readings kept
constexpr double kLeastNoise = 0.7;          // of the median: no emulated batch is ever faster than that

Caller& caller_of(const QueryPtr& query) { return static_cast<Caller&>(*query); }

// The part's outputs in its query's order, out of those that anybody in the batch wanted.
Piece chosen(Piece piece, const std::vector<std::string>& there, const std::vector<std::string>& wanted) {
  if (there == wanted) return piece;
  Piece found;
  for (const std::string& name : wanted)
    found.push_back(piece[std::size_t(std::find(there.begin(), there.end(), name) - there.begin())]);
  return found;
}

}  // namespace

Station::Station(std::string name, const Policy& policy, std::vector<double> bounds,
                 std::shared_ptr<Clockwork> clockwork, Released released, bool emulated,
                 double noise)
    : machine_(policy, std::move(bounds)), speaker_{std::move(name), policy.max_queue, {}, {}}, free_(-kNever),
      clockwork_(std::move(clockwork)), released_(std::move(released)), emulated_(emulated), noise_(noise),
      factor_(1.0, noise > 0 ? noise : 1.0) {
  if (!emulated_) thread_ = std::thread([this] { serve(); });
}

Station::~Station() { close(); }

// One event: decide under the lock, then tell.
template <typename Event>
void Station::happen(Event event) {
  Outcome outcome;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    const double at = now();
    outcome = carry_out(event(at), at);
    effort_.deciding += now() - at;
    ++effort_.decisions;
  }
  tell(std::move(outcome));
}

void Station::submit(const CallerPtr& caller) {
  happen([&](double at) -> Actions {
    caller->arrived = at;
    callers_[caller->id] = caller;
    if (closed_) return {{Action::Kind::ended, nullptr, caller, Reason::draining}};
    return machine_.arrived(caller, at);
  });
}

void Station::cancel(std::uint64_t id, Reason reason) {
  happen([&](double at) { return machine_.cancelled(id, at, reason); });
}

std::uint64_t Station::hosted(const Hosted& hosted, std::vector<std::string> ready) {
  std::uint64_t epoch = 0;
  happen([&](double at) {
    speaker_.serving = hosted.serving;
    speaker_.ready = std::move(ready);
    epoch = ++epoch_;
    return machine_.hosted(hosted, at);
  });
  return epoch;
}

void Station::install(const Model& model, std::shared_ptr<Engine> engine, Medians medians) {
  std::lock_guard<std::mutex> guard(mutex_);
  engines_[model] = {std::move(engine), std::move(medians)};
}

void Station::forget(const Model& model) {
  Installed last;  // destroyed after the lock is released
  std::lock_guard<std::mutex> guard(mutex_);
  const auto found = engines_.find(model);
  if (found == engines_.end()) return;
  last = std::move(found->second);
  engines_.erase(found);
}

void Station::drain() {
  happen([&](double at) { return machine_.drain(at); });
}

void Station::ring() {
  Outcome outcome;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    const double at = now(), due = std::exchange(armed_, kNever);
    if (effort_.lateness.size() < kLateness) effort_.lateness.push_back(at - due);
    if (ends_ <= at)
      outcome = finish_emulated(at);
    else
      outcome = carry_out(machine_.wake() <= at ? machine_.timer(at) : Actions{}, at);
  }
  tell(std::move(outcome));
}

double Station::emulated_seconds(const Batch& batch) {
  const Medians& medians = engines_.at(batch.servable->model).medians;
  const double seconds = medians.at(std::min(std::size_t(batch.size), medians.size() - 1));
  return noise_ > 0 ? seconds * std::max(kLeastNoise, factor_(generator_)) : seconds;
}

Station::Outcome Station::finish_emulated(double at) {
  const BatchPtr batch = std::exchange(pending_, nullptr);
  ends_ = kNever;
  const Work work = work_for(*batch);
  Scratch scratch;
  return finish(*batch, work, run(*engines_.at(batch->servable->model).engine, work, scratch), at - batch->started, at);
}

Station::Outcome Station::carry_out(Actions actions, double at) {
  Outcome outcome;
  for (Action& action : actions) {
    switch (action.kind) {
      case Action::Kind::start:
        pending_ = action.batch;
        outcome.started = true;
        if (emulated_) ends_ = at + emulated_seconds(*pending_);
        break;
      case Action::Kind::answered:
        if (callers_.erase(action.query->id)) outcome.deliveries.push_back(answer(action));
        break;
      case Action::Kind::ended: {
        auto caller = std::static_pointer_cast<Caller>(action.query);
        if (!callers_.erase(caller->id)) break;
        std::string text = action.text.empty() ? ended_text(speaker_, *caller, action.reason, at) : action.text;
        outcome.deliveries.push_back({std::move(caller), false, {}, action.reason, std::move(text)});
        break;
      }
      case Action::Kind::released: outcome.released.emplace_back(action.model, epoch_); break;
    }
  }
  arm();
  return outcome;
}

// A timer that rings too early only sets itself anew: cheaper than moving it at every event.
void Station::arm() {
  const double wake = std::min(machine_.wake(), ends_);
  if (closed_ || armed_ <= wake) return;
  armed_ = wake;
  clockwork_->set(this, wake);
}

void Station::tell(Outcome outcome) {
  if (outcome.started) ready_.notify_one();
  for (auto from = outcome.deliveries.begin(); from != outcome.deliveries.end();) {
    Sink* sink = from->caller->sink;
    const auto to = std::find_if(from, outcome.deliveries.end(),
                                 [sink](const Delivery& one) { return one.caller->sink != sink; });
    sink->deliver({std::make_move_iterator(from), std::make_move_iterator(to)});
    from = to;
  }
  for (const auto& [model, epoch] : outcome.released) released_(model, epoch);
}

void Station::serve() {
  Scratch scratch;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return closed_ || pending_ != nullptr; });
    if (closed_) return;
    const BatchPtr batch = std::exchange(pending_, nullptr);
    const auto engine = engines_.at(batch->servable->model).engine;
    const Work work = work_for(*batch);
    lock.unlock();

    const double began = now();
    auto done = run(*engine, work, scratch);
    const double seconds = now() - began;

    lock.lock();
    const double at = now();
    Outcome outcome = finish(*batch, work, std::move(done), seconds, at);
    effort_.deciding += now() - at;
    ++effort_.decisions;
    lock.unlock();
    tell(std::move(outcome));
    lock.lock();
  }
}

Station::Outcome Station::finish(const Batch& batch, const Work& work, std::vector<PartDone> done, double seconds,
                                 double at) {
  const auto failures = hand_out(batch, work, done, seconds);
  free_ = at;
  return carry_out(machine_.batch_done(at, failures), at);
}

Machine::Failures Station::hand_out(const Batch& batch, const Work& work, std::vector<PartDone>& done, double seconds) {
  Machine::Failures failures;
  for (std::size_t place = 0; place < batch.parts.size(); ++place) {
    Caller& caller = caller_of(batch.parts[place].query);
    if (!done[place].failure.empty()) {
      failures[caller.id] = std::move(done[place].failure);
      continue;
    }
    caller.pieces.push_back(chosen(std::move(done[place].piece), work.outputs, caller.outputs));
    caller.computed += seconds;
  }
  return failures;
}

Work Station::work_for(const Batch& batch) {
  Work work{{}, batch.size, caller_of(batch.parts.front().query).outputs};
  for (const Part& part : batch.parts) {
    Caller& caller = caller_of(part.query);
    if (caller.started < 0) {
      caller.started = batch.started;
      caller.waited = batch.started - std::max(caller.arrived, free_);
    }
    work.parts.push_back({&caller.inputs, part.start, part.rows});
    for (const std::string& name : caller.outputs)
      if (std::find(work.outputs.begin(), work.outputs.end(), name) == work.outputs.end()) work.outputs.push_back(name);
  }
  return work;
}

Delivery Station::answer(const Action& action) const {
  auto caller = std::static_pointer_cast<Caller>(action.query);
  const Batch& batch = *action.batch;
  Answer answer;
  answer.pieces = std::move(caller->pieces);
  answer.variant = batch.servable->model.variant;
  answer.version = batch.servable->version;
  answer.plan_version = batch.plan_version;
  answer.queued = caller->started - caller->arrived;
  answer.computed = caller->computed;
  answer.waited = caller->waited;
  answer.batch = batch.rows;
  return {std::move(caller), true, std::move(answer), Reason::deadline, {}};
}

void Station::close() {
  Outcome outcome;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    if (!closed_) {
      closed_ = true;
      for (const auto& one : callers_) {
        std::string text = ended_text(speaker_, *one.second, Reason::draining, now());
        outcome.deliveries.push_back({one.second, false, {}, Reason::draining, std::move(text)});
      }
      callers_.clear();
    }
  }
  ready_.notify_all();
  clockwork_->forget(this);
  if (thread_.joinable()) thread_.join();
  tell(std::move(outcome));
}

Station::Reading Station::reading() const {
  std::lock_guard<std::mutex> guard(mutex_);
  Reading found;
  found.queued = machine_.queue().size();
  found.busy = machine_.running() != nullptr;
  for (const Lane* lane : machine_.queue().all()) found.waiting[lane->key.application] += lane->size();
  for (const auto& one : machine_.counters().arrivals) found.arrivals += one.second;
  found.margin = machine_.margin();
  if (const BatchPtr& batch = machine_.running())
    found.due = batch->started + batch->servable->latency[std::size_t(batch->rows)];
  return found;
}

Counters Station::counters() const {
  std::lock_guard<std::mutex> guard(mutex_);
  return machine_.counters();
}

void Station::set_linger(double seconds) {
  std::lock_guard<std::mutex> guard(mutex_);
  machine_.repertoire().linger = seconds;
}

Station::Effort Station::take_effort() {
  std::lock_guard<std::mutex> guard(mutex_);
  return std::exchange(effort_, {});
}

}  // namespace tidewise::worker
