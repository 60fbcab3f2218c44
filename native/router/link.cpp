#include "link.hpp"

#include "../clock.hpp"
#include "probe.hpp"
#include "sockets.hpp"

namespace tidewise::router {

namespace {
constexpr int kSilentProbes = 5;  // after which a connection is taken to lead nowhere
}

Link::Link(Loop& loop, std::string address, LinkOwner& owner)
    : loop_(loop), address_(std::move(address)), owner_(owner), timer_(loop, [this] { probe(); }) {
  connect();  // so that the first query finds it warm
}

Link::~Link() {
  if (connection_ == nullptr) return;
  connection_->owner = nullptr;
  if (connection_->is_open())
    connection_->leave_when_idle();  // calls that do not hold their link, as those to Python, may go on
  else
    connection_->abandon();
}

Stream* Link::request(const Headers& headers, StreamOwner& owner) {
  if (connection_ == nullptr) connect();
  if (connection_ == nullptr) return nullptr;
  Stream* stream = connection_->session.request(headers, owner);
  if (stream != nullptr) return stream;
  // A connection has 2^30 streams; the next one goes on with another.
  connection_->owner = nullptr;
  connection_->leave_when_idle();
  connection_ = nullptr;
  connect();
  return connection_ == nullptr ? nullptr : connection_->session.request(headers, owner);
}

void Link::learn(Event event) {
  const bool before = health_.routed();
  health_ = step(health_, event, now());
  if (health_.state != State::in && probe_ == nullptr) timer_.set(health_.probe_at);
  if (before != health_.routed()) owner_.on_change();
}

void Link::connect() {
  connection_ = Connection::make(loop_, Session::Role::client, *this);
  if (is_numeric(address_)) {
    open(address_);
  } else if (!resolving_) {
    resolving_ = true;
    owner_.resolve(address_);
  }
}

void Link::resolved(const std::string& numeric) {
  resolving_ = false;
  if (connection_ != nullptr) open(numeric);
}

void Link::open(const std::string& numeric) {
  bool connecting = false;
  const int fd = numeric.empty() ? -1 : connect_to(numeric, connecting);
  if (fd >= 0) {
    connection_->open(fd, connecting);
    return;
  }
  // Whoever has asked already is told at the end of the round; whoever asks now gets another try.
  Connection* failed = connection_;
  lost();
  failed->abandon();
}

void Link::lost() {
  connection_ = nullptr;
  resolving_ = false;
  silent_probes_ = 0;
  learn(Event::lost);
}

void Link::probe() {
  probe_ = std::make_unique<Probe>(loop_, *this);
  probe_->ask();
}

void Link::probed(Event event, bool heard) {
  probe_.reset();
  silent_probes_ = heard ? 0 : silent_probes_ + 1;
  if (silent_probes_ >= kSilentProbes && connection_ != nullptr) {
    Connection* deaf = connection_;
    lost();
    deaf->abandon();
  }
  learn(event);
}

void Link::on_connected(Connection&) { silent_probes_ = 0; }

void Link::on_goaway(Connection& connection) {
  connection.owner = nullptr;
  connection.leave_when_idle();  // it may still answer what it holds
  lost();
}

void Link::on_closed(Connection&, const std::string&) { lost(); }

}  // namespace tidewise::router
