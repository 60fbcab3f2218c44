// What a router makes of a snapshot and of the workers it can reach: router/table.py in C++.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backlog.hpp"
#include "routes.hpp"

namespace tidewise::router {

class Link;
struct Counts;

/// A route as the choice sees it; router/table.py, Lane, says what the numbers mean.
struct Lane {
  const Route* route;
  double share, cost, service, batch;
  std::shared_ptr<Backlog> backlog;
  std::shared_ptr<Link> link;
};

/// The lanes among which a query may choose, and a smooth cycle of indexes into them.
class View {
 public:
  View() = default;
  /// Of the lanes only route, backlog and link are set; `batch` as in Lane.
  View(std::vector<Lane> found, double batch);

  const std::vector<Lane>& lanes() const { return lanes_; }
  const std::vector<uint16_t>& cycle() const;
  View without(const std::string& worker) const;

 private:
  std::vector<Lane> lanes_;
  mutable std::vector<uint16_t> cycle_;  // made when first needed: most views after a loss never are
};

struct Entry {
  std::shared_ptr<const Snapshot> snapshot;  // owns what the lanes point to
  const Application* application;
  Counts* counts;
  View everywhere;
  std::vector<View> pinned;                        // by variant
  std::unordered_map<std::string, size_t> names;   // variant by version number or name
};

/// What a table needs of the running router, so that building one stays a function of its arguments.
struct Surroundings {
  std::function<std::shared_ptr<Backlog>(const std::string& worker)> backlog;
  std::function<std::shared_ptr<Link>(const std::string& address)> link;  // null if nothing may be sent there
  std::function<Counts*(const std::string& application)> counts;
};

using Table = std::map<std::string, std::shared_ptr<const Entry>, std::less<>>;

/// Shares are renormalised over the routes that have a link.
Table build(const std::shared_ptr<const Snapshot>& snapshot, const Surroundings& surroundings);

}  // namespace tidewise::router
