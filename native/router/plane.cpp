#include "plane.hpp"

#include "../clock.hpp"
#include "orders.hpp"
#include "proxy.hpp"
#include "query.hpp"

namespace tidewise::router {

namespace {

constexpr char kInfer[] = "/inference.GRPCInferenceService/ModelInfer";
constexpr char kNoApplication[] = "_unknown";   // as router/tally.py has it
constexpr double kSignalGrace = 30;       // seconds to end in, if a signal and not Python says so
constexpr double kGoodbyeSeconds = 0.1;   // for a caller to hear that it shall begin no more calls
constexpr double kSweepSeconds = 10, kStallSeconds = 60;  // a caller that takes nothing for so long is cut off

/// Whether this is a query that can be read here; whatever is unusual about a call, Python's server knows an answer.
bool is_query(const Headers& headers) {
  const std::string* path = find(headers, ":path");
  const std::string* method = find(headers, ":method");
  const std::string* type = find(headers, "content-type");
  const std::string* encoding = find(headers, "grpc-encoding");
  return path != nullptr && *path == kInfer && method != nullptr && *method == "POST" && type != nullptr &&
         type->rfind("application/grpc", 0) == 0 && (encoding == nullptr || *encoding == "identity");
}

}  // namespace

Plane::Plane(int channel, const std::vector<int>& listeners)
    : desk_(loop_), channel_(loop_, channel, *this), goodbye_(loop_, [this] {
        for (Connection* caller : callers_) {
          caller->session.go_away(true);
          caller->leave_when_idle();
        }
      }),
      sweep_(loop_, [this] { sweep(); }) {
  desk_.unknown.label = kNoApplication;
  for (const int fd : listeners)
    listeners_.push_back(std::make_unique<Listener>(loop_, fd, [this](int caller) { accept(caller); }));
  sweep_.set(now() + kSweepSeconds);
}

Plane::~Plane() {
  // What is left of connections tells queries, and they tell links: end all of it while everything still stands.
  end_calls();
  desk_.table.clear();
  links_.clear();
  python_.reset();
  loop_.round(0);
}

void Plane::run(const volatile bool& leave) {
  while (!orphaned_ && !drained()) {
    loop_.round(0.5);
    if (leave && !draining_) drain(kSignalGrace);
  }
  end_calls();
  tell_counts();
  for (int turn = 0; turn < 20 && !orphaned_ && !channel_.idle(); ++turn) loop_.round(0.05);
}

Connection* Plane::accept(int fd) {
  Connection* connection = Connection::make(loop_, Session::Role::server, *this);
  callers_.insert(connection);
  connection->open(fd, false);
  return connection;
}

void Plane::on_request(Connection&, Stream& stream) {
  if (is_query(stream.headers))
    stream.owner = new Query(desk_, stream);  // deletes itself with its stream
  else
    stream.owner = new Proxy(stream, python_.get(), desk_.calls);
}

void Plane::on_closed(Connection& connection, const std::string&) { callers_.erase(&connection); }

void Plane::install(std::shared_ptr<const Snapshot> snapshot) {
  installing_ = true;
  snapshot_ = std::move(snapshot);
  desk_.choose = policy_named(snapshot_->routing);
  desk_.max_message = snapshot_->max_message;
  desk_.bounds = snapshot_->bounds;
  for (const Application& application : snapshot_->applications)
    for (const Route& route : application.routes) link_to(route.address);
  installing_ = false;
  rebuild();
  prune();
  tell_out();
}

std::shared_ptr<Link> Plane::link_to(const std::string& address) {
  std::shared_ptr<Link>& link = links_[address];
  if (link == nullptr) link = std::make_shared<Link>(loop_, address, *this);
  return link;
}

void Plane::rebuild() {
  Surroundings surroundings;
  surroundings.backlog = [this](const std::string& worker) {
    std::shared_ptr<Backlog>& backlog = backlogs_[worker];
    if (backlog == nullptr) backlog = std::make_shared<Backlog>();
    return backlog;
  };
  surroundings.link = [this](const std::string& address) {
    auto link = link_to(address);
    return link->health().routed() ? link : nullptr;
  };
  surroundings.counts = [this](const std::string& application) { 
    Counts& counts = counts_[application];
    counts.label = application;
    return &counts;
  };
  desk_.table = build(snapshot_, surroundings);
}

void Plane::prune() {
  std::unordered_set<std::string> workers, addresses;
  for (const Application& application : snapshot_->applications)
    for (const Route& route : application.routes) workers.insert(route.worker), addresses.insert(route.address);
  for (auto at = backlogs_.begin(); at != backlogs_.end();)
    at = workers.count(at->first) || at->second->outstanding > 0 ? std::next(at) : backlogs_.erase(at);
  // A link lives on for as long as queries hold it.
  for (auto at = links_.begin(); at != links_.end();)
    at = addresses.count(at->first) ? std::next(at) : links_.erase(at);
}

void Plane::on_change() {
  if (installing_) return;
  rebuild();
  tell_out();
}

void Plane::tell_out() {
  Writer writer(Kind::out);
  uint32_t count = 0;
  for (const auto& link : links_) count += !link.second->health().routed();
  writer.u32(count);
  for (const auto& link : links_)
    if (!link.second->health().routed()) writer.text(link.first);
  channel_.send(writer.done());
}

void Plane::resolve(const std::string& address) {
  Writer writer(Kind::resolve);
  writer.text(address);
  channel_.send(writer.done());
}

void Plane::on_order(Kind kind, Reader reader) {
  switch (kind) {
    case Kind::table:
      if (auto snapshot = read_snapshot(reader)) {
        install(snapshot);
        Writer writer(Kind::applied);
        writer.u64(snapshot->revision);
        channel_.send(writer.done());
      }
      break;
    case Kind::python: python_ = std::make_shared<Link>(loop_, reader.text(), *this); break;
    case Kind::read: tell_counts(); break;
    case Kind::drain: drain(reader.f64()); break;
    case Kind::resolved: {
      const std::string address = reader.text(), numeric = reader.text();
      const auto found = links_.find(address);
      if (found != links_.end()) std::shared_ptr<Link>(found->second)->resolved(numeric);
      break;
    }
    default: break;
  }
}

void Plane::on_orphaned() { orphaned_ = true; }

void Plane::tell_counts() {
  Writer writer(Kind::counts);
  uint32_t labels = !desk_.unknown.empty();
  for (const auto& one : counts_) labels += !one.second.empty();
  writer.u32(labels);
  if (!desk_.unknown.empty()) write_counts(writer, desk_.unknown);
  for (const auto& one : counts_)
    if (!one.second.empty()) write_counts(writer, one.second);
  write_losses(writer, desk_.losses);
  channel_.send(writer.done());
  desk_.unknown.clear();
  desk_.losses.clear();
  for (auto& one : counts_) one.second.clear();
}

void Plane::drain(double grace) {
  if (draining_) return;
  draining_ = true;
  end_at_ = now() + grace;
  for (const auto& listener : listeners_) listener->stop();
  for (Connection* caller : callers_) caller->session.go_away(false);
  goodbye_.set(now() + kGoodbyeSeconds);
}

void Plane::end_calls() {
  installing_ = true;  // no table is wanted any more
  for (const auto& listener : listeners_) listener->stop();
  while (!callers_.empty()) (*callers_.begin())->close("the router ends");
}

bool Plane::drained() const { return draining_ && (now() >= end_at_ || (!goodbye_.armed() && callers_.empty())); }

void Plane::sweep() {
  const double since = now() - kStallSeconds;
  std::vector<Connection*> stalled;
  for (Connection* caller : callers_)
    if (caller->stalled_since(since)) stalled.push_back(caller);
  for (Connection* caller : stalled) caller->close("the peer takes nothing");
  sweep_.set(now() + kSweepSeconds);
}

}  // namespace tidewise::router
