// The process's door: HTTP/2 on a thread of its own. Ordinary queries go straight to their device, everything else to
// Python's gRPC server behind a Unix socket.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "../../router/connection.hpp"
#include "../../router/listener.hpp"
#include "desk.hpp"

namespace tidewise::worker {

// What other threads want done on the front's, and ends of queries; an eventfd wakes it.
class Mailbox : public router::Pollable, public Sink {
 public:
  explicit Mailbox(router::Loop& loop);
  ~Mailbox() override;

  void deliver(std::vector<Delivery> deliveries) override;
  void post(std::function<void()> task);
  void ready(std::uint32_t events) override;

 private:
  void ring(bool was_empty);

  int fd_;
  std::mutex mutex_;
  std::vector<Delivery> deliveries_;
  std::vector<std::function<void()>> tasks_;
};

class Front : public router::ConnectionOwner, public router::LinkOwner {
 public:
  // `listener` listens already and belongs to the front from now on. `python` is the gRPC server's address, unix:PATH.
  Front(int listener, const std::string& python, Devices devices, std::size_t max_message, std::vector<double> bounds);
  ~Front() override;

  FrontTally& tally() { return tally_; }
  void know(std::shared_ptr<const Catalogue> catalogue);
  // Take no more connections, ask callers to begin no more calls.
  void drain();
  // End all calls and the thread. Devices may still deliver afterwards, to nobody.
  void close();
  // Callers' connections open now.
  std::size_t connections() const { return connections_; }

 private:
  void serve();
  void on_request(router::Connection& connection, router::Stream& stream) override;
  void on_closed(router::Connection& connection, const std::string& why) override;
  void on_change() override {}
  void resolve(const std::string&) override {}
  void accept(int fd);
  void say_goodbye();
  void sweep();

  router::Loop loop_;
  Desk desk_;
  FrontTally tally_;
  Mailbox mailbox_;
  std::unique_ptr<router::Link> python_;
  std::unordered_set<router::Connection*> callers_;
  std::unique_ptr<router::Listener> listener_;
  router::Timer goodbye_, sweep_;
  std::atomic<std::size_t> connections_{0};
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace tidewise::worker
