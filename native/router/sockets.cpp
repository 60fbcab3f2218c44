#include "sockets.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace tidewise::router {

namespace {

constexpr char kUnix[] = "unix:";

struct Free {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};

std::unique_ptr<addrinfo, Free> look_up(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return nullptr;
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) return nullptr;
  return std::unique_ptr<addrinfo, Free>(found);
}

int connect_socket(int family, const sockaddr* address, socklen_t size, bool& connecting) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, address, size) == 0) {
    connecting = false;
    return fd;
  }
  connecting = true;
  if (errno == EINPROGRESS) return fd;
  close(fd);
  return -1;
}

int connect_unix(const std::string& path, bool& connecting) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return connect_socket(AF_UNIX, reinterpret_cast<sockaddr*>(&address), sizeof address, connecting);
}

}  // namespace

bool is_numeric(const std::string& address) { return address.rfind(kUnix, 0) == 0 || look_up(address) != nullptr; }

int connect_to(const std::string& numeric, bool& connecting) {
  if (numeric.rfind(kUnix, 0) == 0) return connect_unix(numeric.substr(sizeof kUnix - 1), connecting);
  const auto found = look_up(numeric);
  return found ? connect_socket(found->ai_family, found->ai_addr, found->ai_addrlen, connecting) : -1;
}

std::string authority(const std::string& address) { return address.rfind(kUnix, 0) == 0 ? "localhost" : address; }

}  // namespace tidewise::router
