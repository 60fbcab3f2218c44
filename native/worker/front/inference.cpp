#include "inference.hpp"

#include <algorithm>
#include <cstring>

#include "../../clock.hpp"
#include "../../router/answers.hpp"
#include "../../router/proxy.hpp"
#include "../../router/wording.hpp"
#include "reply.hpp"

namespace tidewise::worker {
namespace {

constexpr std::size_t kPrefix = 5;             // bytes before a gRPC message: whether it is compressed, and its length
constexpr std::size_t kClaimed = 1024 * 1024;  // bytes believed before they have come
constexpr std::uint64_t kOurs = std::uint64_t(1) << 62;  // ids of queries here, apart from those of Python's front

std::string header(const router::Headers& headers, const char* name) {
  const std::string* found = router::find(headers, name);
  return found == nullptr ? std::string() : *found;
}

}  // namespace

void Incoming::add(const std::uint8_t* data, std::size_t size) {
  grow(received_ + size);
  std::memcpy(memory_.get() + received_, data, size);
  received_ += size;
  if (begun()) grow(std::min(expected(), kClaimed));
}

std::size_t Incoming::expected() const {
  std::size_t size = 0;
  for (int place = 1; place < 5; ++place) size = size << 8 | static_cast<unsigned char>(memory_[place]);
  return kPrefix + size;
}

void Incoming::grow(std::size_t wanted) {
  if (wanted <= capacity_) return;
  if (capacity_ > 0) wanted = std::max(wanted, std::min(2 * capacity_, std::max(wanted, begun() ? expected() : 0)));
  std::shared_ptr<char[]> larger(new char[wanted]);
  if (received_ > 0) std::memcpy(larger.get(), memory_.get(), received_);
  memory_ = std::move(larger);
  capacity_ = wanted;
}

Inference::Inference(Desk& desk, router::Stream& stream) : desk_(desk), stream_(stream) { ++desk_.calls; }

Inference::~Inference() {
  release();
  --desk_.calls;
}

void Inference::on_headers(router::Stream& stream, bool) {
  const std::string* timeout = router::find(stream.headers, "grpc-timeout");
  const double seconds = timeout == nullptr ? -1 : router::timeout_seconds(*timeout);
  if (seconds >= 0 && wire_deadline_ == kNever) wire_deadline_ = now() + seconds;
}

void Inference::on_data(router::Stream& stream, const std::uint8_t* data, std::size_t size) {
  stream.consume(size);  // what is held is bounded below
  if (over_ || caller_ != nullptr) return;
  message_.add(data, size);
  held_ += size;
  desk_.held += size;
  read();
}

void Inference::on_end(router::Stream&) {
  if (!over_ && caller_ == nullptr) hand_over(true);
}

void Inference::read() {
  if (!message_.begun()) return;
  if (message_.unusual()) return hand_over(false);
  const std::size_t size = message_.expected() - kPrefix;
  if (size > desk_.max_message)  // in gRPC's own words, as its library refuses such a message before any handler sees it
    return fail(router::failure(router::Reason::too_large, "SERVER: Received message larger than max (" +
                                                               std::to_string(size) + " vs. " +
                                                               std::to_string(desk_.max_message) + ")"));
  if (desk_.held > kHeldMessages * desk_.max_message)
    return fail(router::failure(router::Reason::queue_full, "the worker process holds as many queries as it may"));
  if (message_.complete() && !submit()) hand_over(false);
}

bool Inference::submit() {
  const std::string_view bytes(message_.memory().get() + kPrefix, message_.expected() - kPrefix);
  const auto request = read_request(bytes);
  if (!request) return false;
  auto caller = std::make_shared<FrontCaller>();
  const auto admitted =
      admit(desk_.devices, *desk_.catalogue, *request, router::find(stream_.headers, "tidewise-worker"), *caller);
  if (!admitted) return false;
  device_ = admitted->device;
  application_ = admitted->application->name;
  id_ = request->id;
  caller->id = kOurs | ++desk_.queries;
  caller->deadline = std::min(now() + admitted->budget, wire_deadline_);
  caller->keep = message_.memory();
  caller->sink = desk_.sink;
  caller->call = this;
  caller_ = std::move(caller);
  release();
  device_->station->submit(caller_);
  return true;
}

void Inference::told(Delivery& delivery) {
  const auto caller = std::move(caller_);
  over_ = true;
  if (!delivery.answered) {
    lose(delivery.reason, delivery.text);
    return fail(router::failure(*router::reason_named(kReasons[int(delivery.reason)]), delivery.text));
  }
  const Answer& answer = delivery.answer;
  const auto slices = encode(application_, id_, device_->station->name(), caller->outputs, answer);
  const double at = now();
  desk_.tally->answered(application_, device_->type, answer, at - caller->arrived, at <= caller->deadline);
  stream_.respond(router::answer_headers(), false);
  for (const router::Slice& slice : slices) stream_.push(slice);
  stream_.finish({{"grpc-status", "0"}});
}

void Inference::on_close(router::Stream&, std::uint32_t, bool) {
  if (caller_ != nullptr) {
    caller_->call = nullptr;
    const bool late = now() >= caller_->deadline;
    device_->station->cancel(caller_->id, late ? Reason::deadline : Reason::cancelled);
    lose(late ? Reason::deadline : Reason::cancelled,
         late ? "the deadline passed before an answer was there" : "the caller gave the query up");
  }
  delete this;
}

void Inference::hand_over(bool ended) {
  auto* proxy = new router::Proxy(stream_, desk_.python, desk_.calls, message_.received());  // deletes itself
  router::Stream& stream = stream_;
  stream.owner = proxy;
  const Incoming message = message_;
  delete this;
  proxy->on_headers(stream, false);
  if (message.received() > 0)
    proxy->on_data(stream, reinterpret_cast<const std::uint8_t*>(message.memory().get()), message.received());
  if (ended) proxy->on_end(stream);
}

void Inference::fail(const router::Failure& failure) {
  over_ = true;
  release();
  router::Headers headers = router::answer_headers(), status = router::status_headers(failure);
  headers.insert(headers.end(), status.begin(), status.end());
  stream_.respond(headers, true);
}

void Inference::lose(Reason reason, std::string sentence) {
  desk_.tally->lost({application_, reason, std::move(sentence), header(stream_.headers, "x-request-id"), id_,
                     device_->station->name(), header(stream_.headers, "traceparent")});
}

void Inference::release() {
  desk_.held -= held_;
  held_ = 0;
}

}  // namespace tidewise::worker
