#include "output.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

namespace tidewise::router {

namespace {
constexpr size_t kParts = 64;            // of one system call
constexpr size_t kOwnPart = 16 * 1024;   // beyond which a new part is begun, so that growing never copies much
}  // namespace

void Output::add(const uint8_t* data, size_t size) {
  if (parts_.empty() || parts_.back().slice.block || parts_.back().own.size() + size > kOwnPart) parts_.emplace_back();
  parts_.back().own.append(reinterpret_cast<const char*>(data), size);
  size_ += size;
}

void Output::add(Slice slice) {
  if (slice.size == 0) return;
  size_ += slice.size;
  parts_.push_back({{}, std::move(slice)});
}

Output::Result Output::write_to(int fd) {
  while (size_ > 0) {
    iovec vectors[kParts];
    size_t count = 0;
    for (const Part& part : parts_) {
      if (count == kParts) break;
      const size_t skip = count == 0 ? front_ : 0;
      vectors[count++] = {const_cast<char*>(part.data()) + skip, part.size() - skip};
    }
    msghdr message{};
    message.msg_iov = vectors;
    message.msg_iovlen = count;
    const ssize_t written = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Result::blocked : Result::broken;
    }
    drop(size_t(written));
  }
  return Result::all;
}

void Output::drop(size_t written) {
  size_ -= written;
  written += front_;
  while (!parts_.empty() && written >= parts_.front().size()) {
    written -= parts_.front().size();
    parts_.pop_front();
  }
  front_ = written;
}

}  // namespace tidewise::router
