// What a device can run now: orders in force, and replaced ones while they linger. worker/repertoire.py in C++, but for
// hosting itself, which stays with Python: it tells what came into force and what is to leave.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query.hpp"

namespace tidewise::worker {

// What hosting decided at one event: orders that came into force, in order, and models that shall go, in order.
struct Hosted {
  std::vector<Order> switches;
  std::vector<Model> leaving;
  std::string serving;  // the application in force
};

class Repertoire {
 public:
  explicit Repertoire(double linger) : linger(linger) {}

  double linger;  // seconds a replaced variant still takes queries

  // The variants that may run a lane, the preferred one first; none if it cannot be served here.
  const std::vector<ServablePtr>& candidates(const LaneKey& lane) const;
  bool takes(const LaneKey& lane, double now) const;
  int plan_version(const std::string& application) const;
  void decided(const Hosted& hosted, double now);
  bool lingers() const { return !release_at_.empty(); }
  // Let go of replaced variants whose time has come and that no query needs. `queued` are applications of waiting ones.
  std::vector<Model> release(double now, const std::function<bool(const Model&)>& needed,
                             std::set<std::string> queued);
  // When `release` next has something new to look at.
  double next_release(double now) const;

 private:
  using Variant = std::pair<std::string, std::string>;
  double release_time(const Model& model, double otherwise) const;

  std::map<std::string, std::vector<ServablePtr>> choices_;  // by application; none of them has been let go
  std::map<std::string, int> versions_;                      // by application, of the order last in force
  std::map<Variant, std::vector<ServablePtr>> servables_;    // one each
  std::vector<std::pair<Model, double>> release_at_;
  std::string serving_;
};

}  // namespace tidewise::worker
