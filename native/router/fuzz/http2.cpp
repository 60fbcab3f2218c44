// A caller and a worker that send any bytes: two of the input's bytes say how many are the caller's, the rest is the
// worker's. The caller's first bytes (preface) are given, for without them nothing else is looked at.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../plane.hpp"

using namespace tidewise::router;

namespace {

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string worker_path() { return "/tmp/tidewise-fuzz-" + std::to_string(getpid()); }

/// A Unix socket at which the worker of every run listens.
int worker_socket() {
  static const int listening = [] {
    std::signal(SIGPIPE, SIG_IGN);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, worker_path().c_str(), sizeof address.sun_path - 1);
    unlink(address.sun_path);
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd, 64) != 0) std::abort();
    std::atexit([] { unlink(worker_path().c_str()); });
    return fd;
  }();
  return listening;
}

std::shared_ptr<const Snapshot> snapshot() {
  auto made = std::make_shared<Snapshot>();
  const std::string address = "unix:" + worker_path();
  made->max_message = 1 << 20;
  made->applications = {{"garments",
                         1.0,
                         0.5,
                         {{"fast", 1, 0.9}, {"fine", 2, 1.0}},
                         {{"a", address, {1}, 1.0, 1000.0, 0.001}, {"b", address, {0, 1}, 1.0, 1000.0, 0.001}}}};
  return made;
}

void discard(int fd) {
  static char buffer[1 << 16];
  while (fd >= 0 && recv(fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
  }
}

void rounds(Plane& plane, int caller, int worker, int count) {
  for (int turn = 0; turn < count; ++turn) {
    plane.round(0);
    discard(caller);
    discard(worker);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 1 << 16) return 0;
  const size_t first = std::min(size - 2, size_t(data[0]) << 8 | data[1]);
  const int listening = worker_socket();
  int channel[2], caller[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, caller) != 0)
    std::abort();
  int worker = -1;
  {
    Plane plane(channel[0], {});
    plane.install(snapshot());
    plane.accept(caller[1]);
    worker = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK);
    (void)!write(caller[0], kPreface, sizeof kPreface - 1);
    (void)!write(caller[0], data + 2, first);
    rounds(plane, caller[0], worker, 3);
    (void)!write(worker, data + 2 + first, size - 2 - first);
    rounds(plane, caller[0], worker, 4);
    if (data[0] & 0x80) close(caller[0]), caller[0] = -1;  // who goes first
    if (data[0] & 0x40) close(worker), worker = -1;
    rounds(plane, caller[0], worker, 2);
  }
  for (int fd : {caller[0], worker, channel[1]})
    if (fd >= 0) close(fd);
  for (int fd; (fd = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) close(fd);
  return 0;
}
