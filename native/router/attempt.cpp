#include "attempt.hpp"

#include <algorithm>
#include <cstdlib>

#include "../clock.hpp"
#include "link.hpp"
#include "sockets.hpp"
#include "wording.hpp"

namespace tidewise::router {

namespace {

constexpr char kReasonKey[] = "tidewise-reason";
constexpr char kInfer[] = "/inference.GRPCInferenceService/ModelInfer";

/// What gRPC makes of a stream that was reset (its PROTOCOL-HTTP2 document has the table).
int code_of_reset(uint32_t code) {
  switch (code) {
    case NGHTTP2_REFUSED_STREAM: return kUnavailable;
    case NGHTTP2_CANCEL: return kCancelled;
    case NGHTTP2_ENHANCE_YOUR_CALM: return kResourceExhausted;
    case NGHTTP2_INADEQUATE_SECURITY: return kPermissionDenied;
    default: return kInternal;
  }
}

/// What gRPC makes of an answer that has an HTTP status and none of its own.
int code_of_http(const std::string& status) {
  if (status == "429" || status == "502" || status == "503" || status == "504") return kUnavailable;
  if (status == "401") return kUnauthenticated;
  if (status == "403") return kPermissionDenied;
  if (status == "404") return kUnimplemented;
  return status == "400" ? kInternal : kUnknown;
}

bool passes(const std::string& name) {
  return name[0] != ':' && name.rfind("grpc-", 0) != 0 && name != "content-type";
}

}  // namespace

Attempt::Attempt(AttemptOwner& owner, std::shared_ptr<const Entry> entry, const Lane& lane, size_t limit)
    : owner_(owner), entry_(std::move(entry)), lane_(lane), limit_(limit) {}

Attempt::~Attempt() {
  if (!settled_) settle(false);
  if (stream_ == nullptr) return;
  stream_->owner = nullptr;
  if (!over_ || stream_->pending() > 0) stream_->reset(NGHTTP2_CANCEL);
}

bool Attempt::begin(double budget, const Headers& passed) {
  sent_ = now();
  lane_.backlog->begun(sent_);
  Headers headers{{":method", "POST"},
                  {":scheme", "http"},
                  {":path", kInfer},
                  {":authority", authority(lane_.link->address())},
                  {"te", "trailers"},
                  {"content-type", "application/grpc"},
                  {"grpc-timeout", timeout_text(budget)},
                  {"tidewise-worker", worker()}};
  headers.insert(headers.end(), passed.begin(), passed.end());
  stream_ = lane_.link->request(headers, *this);
  return stream_ != nullptr;
}

Failure Attempt::not_begun() {
  lane_.link->learn(Event::lost);
  return failure_of(kUnavailable, "failed to connect", {}, worker(), limit_);
}

void Attempt::expire() {
  fail(failure(Reason::deadline, "the deadline passed while worker " + quoted(worker()) + " held the query"));
}

void Attempt::consumed(size_t size) {
  const size_t already = std::min(size, credited_);
  credited_ -= already;
  if (speaking_ && stream_ != nullptr && size > already) stream_->consume(size - already);
}

void Attempt::on_headers(Stream& stream, bool end) {
  const std::string* status = find(stream.headers, ":status");
  if (status != nullptr) http_status_ = *status;
  if (end) read_end(stream.headers);
}

void Attempt::read_end(const Headers& headers) {
  for (const auto& header : headers) {
    if (header.first == "grpc-status") code_ = header.second;
    if (header.first == "grpc-message") message_ = header.second;
    if (passes(header.first)) trailing_.push_back(header);
  }
}

void Attempt::on_data(Stream& stream, const uint8_t* data, size_t size) {
  const Slice slice = copy_of(data, size);
  answer_.add(slice);
  if (answer_.begun() && answer_.size() > limit_) {
    fail(failure(Reason::too_large, "the answer of worker " + quoted(worker()) + " exceeds the limit of " +
                                        std::to_string(limit_) + " bytes"));
    return;
  }
  if (speaking_) {
    owner_.attempt_speaks(slice);
    answer_.release();
    return;
  }
  // A small answer is held until it is complete: until then another worker may still be asked.
  stream.consume(size);
  credited_ += size;
  if (answer_.received() > kWhole) speak();
}

void Attempt::speak() {
  read_answer_head();
  speaking_ = true;
  for (const Slice& slice : answer_.slices()) owner_.attempt_speaks(slice);
  answer_.release();
}

void Attempt::read_answer_head() {
  if (!answer_.begun() || answer_.compressed()) return;
  std::string joined;
  said_ = read_answer(answer_.content(joined), answer_.size());
}

void Attempt::on_end(Stream&) {
  over_ = true;
  if (code_.empty())
    return fail(code_of_http(http_status_), "the worker ended its answer without a status (HTTP " + http_status_ + ")");
  const int code = std::atoi(code_.c_str());
  if (code != kOk) return fail(code, message_);
  if (!answer_.complete() || answer_.overrun()) return fail(kInternal, "the worker's answer is not one message");
  if (!speaking_) speak();
  settle(true);
  owner_.attempt_answered(std::move(said_));
}

void Attempt::on_close(Stream&, uint32_t code, bool lost) {
  stream_ = nullptr;
  if (lost) return fail(kUnavailable, "Socket closed");
  fail(code_of_reset(code), "the worker reset the stream with code " + std::to_string(code));
}

void Attempt::fail(int code, const std::string& message) {
  const std::string* reason = find(trailing_, kReasonKey);
  if (reason == nullptr) return fail(failure_of(code, percent_decoded(message), trailing_, worker(), limit_));
  Failure found{reason_named(*reason).value_or(Reason::internal), message, code, trailing_};
  found.heard = found.encoded = true;
  fail(std::move(found));
}

void Attempt::fail(Failure found) {
  Link& link = *lane_.link;
  if (found.reason == Reason::worker_lost || found.reason == Reason::draining)
    link.learn(Event::lost);
  else if (found.reason == Reason::deadline && !found.heard && link.heard < sent_)
    link.learn(Event::silent);
  settle(found.heard);
  owner_.attempt_failed(std::move(found));
}

void Attempt::settle(bool heard) {
  const double at = now();
  if (heard) lane_.link->heard = at;
  if (sent_ > 0) lane_.backlog->ended(at, heard);
  settled_ = true;
}

}  // namespace tidewise::router
