#include "query.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "../clock.hpp"
#include "admission.hpp"
#include "answers.hpp"
#include "wording.hpp"

namespace tidewise::router {

namespace {

constexpr double kHeadSeconds = 60;  // a caller without a deadline has this long to say what it wants

double wall_clock() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

}  // namespace

Query::Query(Desk& desk, Stream& caller)
    : desk_(desk), caller_(caller), wire_deadline_(std::numeric_limits<double>::infinity()),
      timer_(desk.loop, [this] { expire(); }) {
  ++desk_.calls;
}

Query::~Query() { --desk_.calls; }

void Query::on_headers(Stream& stream, bool) {
  if (timer_.armed()) return;  // a caller's trailers
  const double at = now();
  for (const auto& header : stream.headers) {
    if (header.first == kRequestId || header.first == kTraceParent || header.first == "tracestate")
      passed_.push_back(header);
    if (header.first != "grpc-timeout") continue;
    const double seconds = timeout_seconds(header.second);
    if (seconds >= 0) wire_deadline_ = at + seconds;
  }
  timer_.set(std::min(wire_deadline_, at + kHeadSeconds));
}

void Query::on_data(Stream& stream, const uint8_t* data, size_t size) {
  if (over_) {
    stream.consume(size);
    return;
  }
  const Slice slice = copy_of(data, size);
  message_.add(slice);
  if (message_.overrun()) return break_off(failure(Reason::bad_input, "a query is one message; more was sent"));
  if (admitted_) {
    if (attempt_ == nullptr) return;
    attempt_->push(slice);
    if (message_.complete()) attempt_->finish();
    return;
  }
  unread_ += size;
  desk_.unread_bytes += size;
  stream.consume(size);  // until the worker is known nothing can push back; `unread_bytes` bounds what this holds
  credited_ += size;
  read_head();
}

void Query::on_end(Stream&) {
  if (!over_ && !message_.complete()) break_off(failure(Reason::bad_input, "the query ended before its message did"));
}

void Query::read_head() {
  if (!message_.begun()) return;
  const size_t size = message_.size(), there = message_.received() - kPrefix;
  if (size > desk_.max_message) return refuse_unread(too_large(size, desk_.max_message));
  if (desk_.unread_bytes > kHeldMessages * desk_.max_message)
    return refuse_unread(failure(Reason::queue_full, "the router holds as many queries as it may"));
  if (!message_.complete() && (size <= kWhole || there < read_again_at_)) return;
  read_again_at_ = 2 * there;
  std::string joined, error;
  const Reading reading = tidewise::router::read_head(message_.content(joined), size, head_, error);
  if (reading == Reading::more) return;
  if (reading == Reading::done) return admit(now());
  head_ = {};
  counts_ = &desk_.unknown;
  ++counts_->arrivals;
  name();
  settle(failure(Reason::bad_input, error));
}

/// The query is not waited for; it counts under its application if what is there of it says which.
void Query::refuse_unread(Failure found) {
  std::string joined, error;
  if (tidewise::router::read_head(message_.content(joined), std::max(message_.size(), kWhole + 1), head_, error) !=
      Reading::done)
    head_ = {};
  const auto entry = desk_.table.find(head_.application);
  counts_ = entry == desk_.table.end() ? &desk_.unknown : entry->second->counts;
  ++counts_->arrivals;
  name();
  settle(std::move(found));
}

void Query::name() {
  if (head_.id.empty() && find(passed_, kRequestId) == nullptr) passed_.emplace_back(kRequestId, desk_.new_name());
}

void Query::admit(double at) {
  arrived_ = at;
  admitted_ = true;
  const auto found = desk_.table.find(head_.application);
  counts_ = found == desk_.table.end() ? &desk_.unknown : found->second->counts;
  ++counts_->arrivals;
  name();
  if (found == desk_.table.end()) return settle(unknown_application(desk_.table, head_.application));
  entry_ = found->second;
  double budget = std::min(entry_->application->slo, wire_deadline_ - at);
  if (head_.budget) budget = std::min(budget, *head_.budget);
  if (budget <= 0) return settle(failure(Reason::deadline, "the deadline had passed when the query arrived"));
  if (desk_.full()) return settle(failure(Reason::queue_full, "the router holds as many queries as it may"));
  deadline_ = at + budget;
  timer_.set(deadline_);
  hold();
  pick("", std::nullopt);
}

void Query::pick(const std::string& avoid, std::optional<Failure> otherwise) {
  const auto found = desk_.table.find(head_.application);  // not the query's own: it may have been removed since
  if (found == desk_.table.end())
    return settle(otherwise ? std::move(*otherwise) : unknown_application(desk_.table, head_.application));
  const std::shared_ptr<const Entry> entry = found->second;
  const View* view = find_view(*entry, head_.version);
  if (view == nullptr) return settle(otherwise ? std::move(*otherwise) : unknown_variant(*entry, head_.version));
  View rest;
  if (!avoid.empty()) {
    rest = view->without(avoid);
    view = &rest;
  }
  const double at = now(), left = deadline_ - at;
  const Decision decision = decide(desk_.choose, *view, at, left, ++counts_->turns, desk_.generator);
  if (decision.lane != nullptr) {
    counts_->retries += otherwise.has_value();
    return send(entry, Lane(*decision.lane));
  }
  settle(otherwise ? std::move(*otherwise) : explain(decision, *entry, head_, left));
}

void Query::send(const std::shared_ptr<const Entry>& entry, const Lane& lane) {
  ++attempts_;
  sent_ = 0;
  worker_ = lane.route->worker;
  attempt_ = std::make_unique<Attempt>(*this, entry, lane, desk_.max_message);
  if (!attempt_->begin(deadline_ - now(), passed_)) return attempt_failed(attempt_->not_begun());
  for (const Slice& slice : message_.slices()) attempt_->push(slice);
  if (message_.complete()) attempt_->finish();
}

void Query::attempt_failed(Failure found) {
  attempt_.reset();
  if (found.elsewhere() && !answering_ && attempts_ == 1)
    pick(worker_, std::move(found));
  else
    settle(std::move(found));
}

void Query::attempt_speaks(const Slice& slice) {
  if (!answering_) caller_.respond(answer_headers(), false);
  answering_ = true;
  message_.release();  // it will not be sent again
  caller_.push(slice);
}

void Query::attempt_answered(std::optional<AnswerHead> said) {
  const double at = now();
  const bool on_time = at <= deadline_;
  ++(on_time ? counts_->on_time : counts_->late);
  if (said) {
    const auto variant = entry_->names.find(said->version);
    if (variant != entry_->names.end()) {
      const Variant& one = entry_->application->variants[variant->second];
      counts_->answered(one.name, {*said, at - arrived_, wall_clock(), on_time ? one.worth : 0.0}, desk_.bounds);
    }
  }
  attempt_.reset();
  over_ = true;
  timer_.cancel();
  release();
  caller_.finish({{"grpc-status", "0"}});
}

void Query::attempt_sent(size_t size) {
  sent_ += size;
  // What a second worker is sent has been given back already.
  if (sent_ <= credited_) return;
  caller_.consume(sent_ - credited_);
  credited_ = sent_;
}

void Query::on_sent(Stream&, size_t size) {
  if (attempt_ != nullptr) attempt_->consumed(size);
}

void Query::on_close(Stream&, uint32_t, bool) {
  if (admitted_ && !over_)
    lose(now() >= deadline_ ? failure(Reason::deadline, "the deadline passed before an answer came")
                            : failure(Reason::cancelled, "the caller gave the query up"));
  release();
  delete this;
}

void Query::expire() {
  if (attempt_ != nullptr)
    attempt_->expire();
  else
    end(failure(Reason::deadline, "the deadline passed before the query had arrived"));
}

}  // namespace tidewise::router
