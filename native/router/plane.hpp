// The data plane put together: callers' connections, links to workers, the table, and the Python side.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "channel.hpp"
#include "connection.hpp"
#include "desk.hpp"
#include "link.hpp"
#include "listener.hpp"
#include "loop.hpp"

namespace tidewise::router {

class Plane : public ConnectionOwner, public LinkOwner, public ChannelOwner {
 public:
  Plane(int channel, const std::vector<int>& listeners);
  ~Plane() override;

  /// Serve until drained or orphaned. `leave` is looked at every round: true drains.
  void run(const volatile bool& leave);

  // For tests and fuzzing: one round, a caller's connection, a table.
  void round(double limit) { loop_.round(limit); }
  Connection* accept(int fd);
  void install(std::shared_ptr<const Snapshot> snapshot);

 private:
  void on_request(Connection& connection, Stream& stream) override;
  void on_closed(Connection& connection, const std::string& why) override;
  void on_change() override;
  void resolve(const std::string& address) override;
  void on_order(Kind kind, Reader reader) override;
  void on_orphaned() override;

  std::shared_ptr<Link> link_to(const std::string& address);
  void rebuild();
  void prune();
  void tell_out();
  void tell_counts();
  void drain(double grace);
  void end_calls();
  void sweep();
  bool drained() const;

  Loop loop_;
  Desk desk_;
  std::map<std::string, Counts> counts_;  // by application; never shrinks, as applications are few
  std::unordered_map<std::string, std::shared_ptr<Backlog>> backlogs_;
  std::map<std::string, std::shared_ptr<Link>> links_;
  std::shared_ptr<Link> python_;
  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<Snapshot>();
  bool installing_ = false;
  std::unordered_set<Connection*> callers_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Channel channel_;
  Timer goodbye_, sweep_;
  bool draining_ = false, orphaned_ = false;
  double end_at_ = 0;
};

}  // namespace tidewise::router
