// The connection to one worker process, whether it can be trusted, and the probing that finds out.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "connection.hpp"
#include "health.hpp"
#include "loop.hpp"

namespace tidewise::router {

class Link;

/// Who owns links.
class LinkOwner {
 public:
  virtual ~LinkOwner() = default;
  /// A link has come into or gone out of routing.
  virtual void on_change() = 0;
  /// `address` is not numeric: its owner finds out and calls `Link::resolved`.
  virtual void resolve(const std::string& address) = 0;
};

class Probe;

class Link : public ConnectionOwner {
 public:
  Link(Loop& loop, std::string address, LinkOwner& owner);
  ~Link() override;

  const std::string& address() const { return address_; }
  const Health& health() const { return health_; }
  /// Begin a stream to the process, connecting first if need be; null if that fails at once.
  Stream* request(const Headers& headers, StreamOwner& owner);
  void learn(Event event);
  /// HOST:PORT with a numeric host; empty if there is none.
  void resolved(const std::string& numeric);

  double heard = 0;  // when a query was last answered from there

 private:
  friend class Probe;
  void connect();
  void open(const std::string& numeric);
  void lost();
  void probe();
  void probed(Event event, bool heard);
  void on_connected(Connection&) override;
  void on_goaway(Connection&) override;
  void on_closed(Connection&, const std::string&) override;

  Loop& loop_;
  const std::string address_;
  LinkOwner& owner_;
  Health health_;
  Connection* connection_ = nullptr;  // to which new streams go
  bool resolving_ = false;
  int silent_probes_ = 0;             // in a row on this connection
  std::unique_ptr<Probe> probe_;
  Timer timer_;
};

}  // namespace tidewise::router
