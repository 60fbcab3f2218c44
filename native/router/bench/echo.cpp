// A worker that answers every query at once with the same bytes, so that a bench measures what lies before it.
//   tidewise-echo ANSWER_FILE        prints the address it listens at
#include <arpa/inet.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "../connection.hpp"
#include "../listener.hpp"
#include "../message.hpp"

using namespace tidewise::router;

namespace {

Slice framed(const std::string& message) {
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) bytes += char(message.size() >> shift);
  bytes += message;
  return copy_of(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

class Echo : public ConnectionOwner, private StreamOwner {
 public:
  explicit Echo(const std::string& answer) : answer_(framed(answer)), healthy_(framed("\x08\x01")) {}

  void on_request(Connection&, Stream& stream) override { stream.owner = this; }
  void on_closed(Connection&, const std::string&) override {}

 private:
  void on_headers(Stream&, bool) override {}
  void on_data(Stream& stream, const uint8_t*, size_t size) override { stream.consume(size); }
  void on_end(Stream& stream) override {
    const std::string* path = find(stream.headers, ":path");
    const bool infer = path != nullptr && path->find("ModelInfer") != std::string::npos;
    stream.respond({{":status", "200"}, {"content-type", "application/grpc"}}, false);
    stream.push(infer ? answer_ : healthy_);
    stream.finish({{"grpc-status", "0"}});
  }
  void on_sent(Stream&, size_t) override {}
  void on_close(Stream&, uint32_t, bool) override {}

  Slice answer_, healthy_;
};

int listen_anywhere() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, 128) != 0) return -1;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("127.0.0.1:%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return fd;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  std::ifstream file(words[1], std::ios::binary);
  Echo echo(std::string(std::istreambuf_iterator<char>(file), {}));
  Loop loop;
  Listener listener(loop, listen_anywhere(),
                    [&](int fd) { Connection::make(loop, Session::Role::server, echo)->open(fd, false); });
  for (;;) loop.round(1);
}
