#include "connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../clock.hpp"

namespace tidewise::router {

namespace {
constexpr size_t kReceive = 256 * 1024;
constexpr int kReceivesPerRound = 4;               // so that one busy peer does not starve the others
constexpr size_t kOutput = 256 * 1024;             // frames prepared ahead of what the socket takes
constexpr size_t kPendingBytes = 128 * 1024 * 1024;  // answers a caller may leave unread before it is cut off
}  // namespace

Connection::Connection(Loop& loop, Session::Role role, ConnectionOwner& owner)
    : owner(&owner), session(role, *this), loop_(loop) {}

Connection* Connection::make(Loop& loop, Session::Role role, ConnectionOwner& owner) {
  std::unique_ptr<Connection> made(new Connection(loop, role, owner));
  Connection* connection = made.get();
  loop.adopt(std::move(made));
  return connection;
}

Connection::~Connection() {
  if (fd_ >= 0) ::close(fd_);
}

void Connection::open(int fd, bool connecting) {
  fd_ = fd;
  connecting_ = connecting;
  writable_ = connecting;
  progress_ = now();
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails harmlessly on a Unix socket
  loop_.watch(fd, EPOLLIN | (connecting ? unsigned(EPOLLOUT) : 0u), this);
  loop_.touch(this);
}

void Connection::ready(uint32_t events) {
  if (closed_) return;
  if (connecting_) {
    connected();
    if (closed_ || connecting_) return;
  }
  if (events & EPOLLOUT) loop_.touch(this);
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive();
}

void Connection::connected() {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    close(std::strerror(error));
    return;
  }
  connecting_ = false;
  if (owner != nullptr) owner->on_connected(*this);
  loop_.touch(this);
}

void Connection::receive() {
  static uint8_t buffer[kReceive];
  for (int turn = 0; turn < kReceivesPerRound; ++turn) {
    const ssize_t size = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (size <= 0) {
      close(size == 0 ? "Socket closed" : std::strerror(errno));
      return;
    }
    if (!session.receive(buffer, size_t(size))) {
      close("the peer does not speak HTTP/2 as it must");
      return;
    }
    if (size_t(size) < sizeof buffer) return;
  }
}

void Connection::flush() {
  if (closed_) return;
  if (abandoned_) {
    close("given up");
    return;
  }
  if (fd_ < 0 || connecting_) return;
  if (session.role() == Session::Role::server && session.pending() > kPendingBytes) {
    close("the peer does not read its answers");
    return;
  }
  write();
}

void Connection::write() {
  Output::Result result;
  do {
    if (!session.fill(output_, kOutput)) {
      close("HTTP/2 session failed");
      return;
    }
    if (output_.size() == 0) {
      result = Output::Result::all;
      break;
    }
    const size_t before = output_.size();
    result = output_.write_to(fd_);
    if (output_.size() < before) progress_ = now();
  } while (result == Output::Result::all);
  if (result == Output::Result::broken) {
    close(std::strerror(errno));
    return;
  }
  want(result == Output::Result::blocked);
  const bool idle = output_.size() == 0 && session.streams() == 0;
  if (output_.size() == 0 && (session.finished() || (leaving_ && idle))) close("ended");
}

void Connection::want(bool writable) {
  if (!writable) progress_ = now();
  if (writable == writable_) return;
  writable_ = writable;
  loop_.change(fd_, EPOLLIN | (writable ? unsigned(EPOLLOUT) : 0u), this);
}

void Connection::close(const std::string& why) {
  if (closed_) return;
  closed_ = true;
  if (fd_ >= 0) {
    loop_.forget(fd_);
    ::close(fd_);
    fd_ = -1;
  }
  if (owner != nullptr) owner->on_closed(*this, why);
  owner = nullptr;
  session.lose_streams();
  loop_.bury(this);
}

void Connection::abandon() {
  owner = nullptr;
  abandoned_ = true;
  loop_.touch(this);
}

void Connection::leave_when_idle() {
  leaving_ = true;
  loop_.touch(this);
}

void Connection::on_request(Stream& stream) {
  if (owner != nullptr) owner->on_request(*this, stream);
}

void Connection::on_goaway() {
  if (owner != nullptr) owner->on_goaway(*this);
}

}  // namespace tidewise::router
