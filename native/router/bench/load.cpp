// Asks queries and says how long they took, as one JSON object.
//   tidewise-load ADDRESS QUERY_FILE closed CALLERS QUERIES      each caller asks again when it is answered
//   tidewise-load ADDRESS QUERY_FILE open RATE QUERIES           one every 1/RATE s; latency counts from when it was due
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../clock.hpp"
#include "../connection.hpp"
#include "../message.hpp"
#include "../sockets.hpp"

using namespace tidewise::router;

namespace {

class Load : public ConnectionOwner {
 public:
  Load(Loop& loop, const std::string& address, const std::string& query, size_t queries)
      : loop_(loop), address_(address), queries_(queries) {
    std::string bytes(1, '\0');
    for (int shift = 24; shift >= 0; shift -= 8) bytes += char(query.size() >> shift);
    bytes += query;
    body_ = copy_of(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    bool connecting = false;
    const int fd = connect_to(address, connecting);
    if (fd < 0) std::exit(1);
    connection_ = Connection::make(loop, Session::Role::client, *this);
    connection_->open(fd, connecting);
  }

  void closed_loop(size_t callers) {
    again_ = true;
    for (size_t caller = 0; caller < callers; ++caller) ask(now());
  }
  /// Ask whatever is due; seconds until the next is.
  double open_loop(double rate, double began) {
    while (asked_ < queries_ && began + double(asked_) / rate <= now()) ask(began + double(asked_) / rate);
    return asked_ < queries_ ? began + double(asked_) / rate - now() : 1.0;
  }
  bool done() const { return took_.size() + errors_ >= queries_; }

  void say(double seconds) {
    std::sort(took_.begin(), took_.end());
    const auto at = [this](double part) { return took_.empty() ? 0.0 : 1e6 * took_[size_t(part * double(took_.size() - 1))]; };
    std::printf("{\"p50_us\": %.1f, \"p99_us\": %.1f, \"rps\": %.1f, \"queries\": %zu, \"errors\": %zu}\n", at(0.5), at(0.99),
                double(took_.size()) / seconds, took_.size(), errors_);
  }

  void on_closed(Connection&, const std::string& why) override {
    std::fprintf(stderr, "connection lost: %s\n", why.c_str());
    std::exit(1);
  }

 private:
  struct Call : StreamOwner {
    Call(Load& load, double due) : load(load), due(due) {}
    void on_headers(Stream& stream, bool end) override {
      const std::string* status = find(stream.headers, "grpc-status");
      if (end) good = status != nullptr && *status == "0";
    }
    void on_data(Stream& stream, const uint8_t*, size_t size) override { stream.consume(size); }
    void on_end(Stream&) override {}
    void on_sent(Stream&, size_t) override {}
    void on_close(Stream&, uint32_t, bool) override {
      load.ended(good, now() - due);
      delete this;
    }
    Load& load;
    double due;
    bool good = false;
  };

  void ask(double due) {
    ++asked_;
    Stream* stream = connection_->session.request({{":method", "POST"},
                                                   {":scheme", "http"},
                                                   {":path", "/inference.GRPCInferenceService/ModelInfer"},
                                                   {":authority", address_},
                                                   {"te", "trailers"},
                                                   {"content-type", "application/grpc"},
                                                   {"grpc-timeout", "10S"}},
                                                  *new Call(*this, due));
    stream->push(body_);
    stream->finish();
  }

  void ended(bool good, double seconds) {
    if (good)
      took_.push_back(seconds);
    else
      ++errors_;
    if (again_ && asked_ < queries_) ask(now());
  }

  Loop& loop_;
  std::string address_;
  size_t queries_, asked_ = 0, errors_ = 0;
  bool again_ = false;
  Slice body_;
  Connection* connection_ = nullptr;
  std::vector<double> took_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 6) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  std::ifstream file(words[2], std::ios::binary);
  Loop loop;
  Load load(loop, words[1], std::string(std::istreambuf_iterator<char>(file), {}), std::strtoul(words[5], nullptr, 10));
  const bool open = std::strcmp(words[3], "open") == 0;
  const double rate = std::atof(words[4]), began = now();
  if (!open) load.closed_loop(size_t(rate));
  // The last millisecond before a query is due is not slept through: the loop wakes no finer than that.
  while (!load.done()) loop.round(open ? std::max(0.0, load.open_loop(rate, began) - 1e-3) : 1.0);
  load.say(now() - began);
  std::fflush(stdout);
  std::_Exit(0);
}
