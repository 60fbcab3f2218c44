#include "listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "../clock.hpp"

namespace tidewise::router {

namespace {
constexpr int kPerRound = 64;
constexpr double kRestSeconds = 0.2;  // when the process has no descriptor left, until some have been closed
}  // namespace

Listener::Listener(Loop& loop, int fd, std::function<void(int)> accepted)
    : loop_(loop), fd_(fd), accepted_(std::move(accepted)),
      resting_(loop, [this] { loop_.watch(fd_, EPOLLIN, this); }) {
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  loop_.watch(fd_, EPOLLIN, this);
}

void Listener::ready(uint32_t) {
  for (int turn = 0; turn < kPerRound && fd_ >= 0; ++turn) {
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
      accepted_(fd);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
      return rest();
    else if (errno != ECONNABORTED && errno != EINTR)
      return;
  }
}

void Listener::rest() {
  loop_.forget(fd_);
  resting_.set(now() + kRestSeconds);
}

void Listener::stop() {
  if (fd_ < 0) return;
  resting_.cancel();
  loop_.forget(fd_);
  close(fd_);
  fd_ = -1;
}

}  // namespace tidewise::router
