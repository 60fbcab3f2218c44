#include "front.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <iterator>

#include "../../clock.hpp"
#include "../../router/proxy.hpp"
#include "inference.hpp"

namespace tidewise::worker {
namespace {

constexpr char kInfer[] = "/inference.GRPCInferenceService/ModelInfer";
constexpr double kGoodbyeSeconds = 0.1;   // for a caller to hear that it shall begin no more calls
constexpr double kSweepSeconds = 10, kStallSeconds = 60;  // a caller that takes nothing for so long is cut off

// Whether this is a query that can be read here; whatever is unusual about a call, Python's server knows an answer.
bool is_query(const router::Headers& headers) {
  const auto is = [&](const char* name, const char* value) {
    const std::string* found = router::find(headers, name);
    return found != nullptr && *found == value;
  };
  const std::string* type = router::find(headers, "content-type");
  return is(":path", kInfer) && is(":method", "POST") && type != nullptr && type->rfind("application/grpc", 0) == 0 &&
         (router::find(headers, "grpc-encoding") == nullptr || is("grpc-encoding", "identity"));
}

}  // namespace

Mailbox::Mailbox(router::Loop& loop) : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { loop.watch(fd_, EPOLLIN, this); }

Mailbox::~Mailbox() { ::close(fd_); }

void Mailbox::deliver(std::vector<Delivery> deliveries) {
  bool was_empty;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    was_empty = deliveries_.empty() && tasks_.empty();
    std::move(deliveries.begin(), deliveries.end(), std::back_inserter(deliveries_));
  }
  ring(was_empty);
}

void Mailbox::post(std::function<void()> task) {
  bool was_empty;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    was_empty = deliveries_.empty() && tasks_.empty();
    tasks_.push_back(std::move(task));
  }
  ring(was_empty);
}

void Mailbox::ring(bool was_empty) {
  if (!was_empty) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(fd_, &one, sizeof one);
}

void Mailbox::ready(std::uint32_t) {
  std::uint64_t count;
  [[maybe_unused]] const auto bytes = read(fd_, &count, sizeof count);
  std::vector<Delivery> deliveries;
  std::vector<std::function<void()>> tasks;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    deliveries.swap(deliveries_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
  for (Delivery& one : deliveries)
    if (Inference* call = static_cast<FrontCaller&>(*one.caller).call) call->told(one);
}

Front::Front(int listener, const std::string& python, Devices devices, std::size_t max_message,
             std::vector<double> bounds)
    : tally_(std::move(bounds)), mailbox_(loop_), goodbye_(loop_, [this] { say_goodbye(); }),
      sweep_(loop_, [this] { sweep(); }) {
  desk_.devices = std::move(devices);
  desk_.max_message = max_message;
  desk_.sink = &mailbox_;
  desk_.tally = &tally_;
  python_ = std::make_unique<router::Link>(loop_, python, *this);
  desk_.python = python_.get();
  listener_ = std::make_unique<router::Listener>(loop_, listener, [this](int fd) { accept(fd); });
  sweep_.set(now() + kSweepSeconds);
  thread_ = std::thread([this] { serve(); });
}

Front::~Front() { close(); }

void Front::serve() {
  while (!closed_) loop_.round(3600);
  // What is left of connections tells calls: end all of it while everything still stands.
  listener_->stop();
  while (!callers_.empty()) (*callers_.begin())->close("the worker ends");
  desk_.python = nullptr;
  python_.reset();
  loop_.round(0);
}

void Front::know(std::shared_ptr<const Catalogue> catalogue) {
  mailbox_.post([this, catalogue] { desk_.catalogue = catalogue; });
}

void Front::drain() {
  mailbox_.post([this] {
    listener_->stop();
    for (router::Connection* caller : callers_) caller->session.go_away(false);
    goodbye_.set(now() + kGoodbyeSeconds);
  });
}

void Front::close() {
  if (!thread_.joinable()) return;
  mailbox_.post([this] { closed_ = true; });
  thread_.join();
}

void Front::on_request(router::Connection&, router::Stream& stream) {
  if (is_query(stream.headers))
    stream.owner = new Inference(desk_, stream);  // deletes itself with its stream
  else
    stream.owner = new router::Proxy(stream, desk_.python, desk_.calls);
}

void Front::on_closed(router::Connection& connection, const std::string&) {
  callers_.erase(&connection);
  connections_ = callers_.size();
}

void Front::accept(int fd) {
  router::Connection* connection = router::Connection::make(loop_, router::Session::Role::server, *this);
  callers_.insert(connection);
  connections_ = callers_.size();
  connection->open(fd, false);
}

void Front::say_goodbye() {
  for (router::Connection* caller : callers_) {
    caller->session.go_away(true);
    caller->leave_when_idle();
  }
}

void Front::sweep() {
  const double since = now() - kStallSeconds;
  std::vector<router::Connection*> stalled;
  for (router::Connection* caller : callers_)
    if (caller->stalled_since(since)) stalled.push_back(caller);
  for (router::Connection* caller : stalled) caller->close("the peer takes nothing");
  sweep_.set(now() + kSweepSeconds);
}

}  // namespace tidewise::worker
