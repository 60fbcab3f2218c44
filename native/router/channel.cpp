#include "channel.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace tidewise::router {

namespace {
constexpr size_t kHead = 4;
}

Channel::Channel(Loop& loop, int fd, ChannelOwner& owner) : loop_(loop), fd_(fd), owner_(owner) {
  loop_.watch(fd_, EPOLLIN, this);
}

Channel::~Channel() { close(fd_); }

void Channel::send(std::string frame) {
  out_ += frame;
  loop_.touch(this);
}

void Channel::ready(uint32_t events) {
  if (events & EPOLLOUT) loop_.touch(this);
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  char buffer[64 * 1024];
  const ssize_t size = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    loop_.forget(fd_);
    owner_.on_orphaned();
    return;
  }
  in_.append(buffer, size_t(size));
  take_orders();
}

void Channel::take_orders() {
  size_t taken = 0;
  while (in_.size() - taken > kHead) {
    uint32_t size;
    std::memcpy(&size, in_.data() + taken, sizeof size);
    if (in_.size() - taken < kHead + size || size == 0) break;
    const auto kind = Kind(in_[taken + kHead]);
    owner_.on_order(kind, Reader(std::string_view(in_).substr(taken + kHead + 1, size - 1)));
    taken += kHead + size;
  }
  in_.erase(0, taken);
}

void Channel::flush() {
  while (!out_.empty()) {
    const ssize_t size = ::send(fd_, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) break;
    out_.erase(0, size_t(size));
  }
  loop_.change(fd_, EPOLLIN | (out_.empty() ? 0u : unsigned(EPOLLOUT)), this);
}

}  // namespace tidewise::router
