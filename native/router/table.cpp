#include "table.hpp"

#include <algorithm>
#include <limits>

#include "cycle.hpp"

namespace tidewise::router {

namespace {

double rate_of(const Route& route) {
  // The fastest variant alone, one query at a time, is a floor under what the worker can do.
  return std::max(route.capacity, route.fastest > 0 ? 1 / route.fastest : 0.0);
}

bool has(const Route& route, size_t variant) {
  return std::find(route.variants.begin(), route.variants.end(), variant) != route.variants.end();
}

std::shared_ptr<const Entry> entry_of(const std::shared_ptr<const Snapshot>& snapshot, const Application& application,
                                      const Surroundings& surroundings) {
  auto entry = std::make_shared<Entry>();
  entry->snapshot = snapshot;
  entry->application = &application;
  entry->counts = surroundings.counts(application.name);
  std::vector<Lane> lanes;
  for (const Route& route : application.routes)
    if (auto link = surroundings.link(route.address))
      lanes.push_back({&route, 0, 0, 0, 0, surroundings.backlog(route.worker), std::move(link)});
  entry->everywhere = View(lanes, application.batch);
  for (size_t index = 0; index < application.variants.size(); ++index) {
    std::vector<Lane> warm;
    std::copy_if(lanes.begin(), lanes.end(), std::back_inserter(warm),
                 [&](const Lane& lane) { return has(*lane.route, index); });
    entry->pinned.push_back(warm.size() == lanes.size() ? entry->everywhere : View(std::move(warm), application.batch));
    entry->names[application.variants[index].name] = index;
  }
  for (size_t index = 0; index < application.variants.size(); ++index)
    entry->names[std::to_string(application.variants[index].version)] = index;
  return entry;
}

}  // namespace

View::View(std::vector<Lane> found, double batch) : lanes_(std::move(found)) {
  std::vector<double> shares, rates;
  for (const Lane& lane : lanes_) shares.push_back(lane.route->share), rates.push_back(rate_of(*lane.route));
  const double total = exact_sum(shares), sum = exact_sum(rates);
  const double whole = sum != 0 ? sum : 1.0;
  for (size_t index = 0; index < lanes_.size(); ++index) {
    Lane& lane = lanes_[index];
    lane.share = total > 0 ? shares[index] / total : 1.0 / double(lanes_.size());
    lane.cost = lane.share > 0 ? 1 / (lane.share * whole) : std::numeric_limits<double>::infinity();
    lane.batch = batch;
    lane.service = rates[index] > 0 ? 1 / rates[index] : 0.0;
  }
}

const std::vector<uint16_t>& View::cycle() const {
  if (cycle_.empty()) {
    std::vector<double> shares;
    for (const Lane& lane : lanes_) shares.push_back(lane.share);
    cycle_ = smooth_cycle(shares);
  }
  return cycle_;
}

View View::without(const std::string& worker) const {
  std::vector<Lane> kept;
  std::copy_if(lanes_.begin(), lanes_.end(), std::back_inserter(kept),
               [&](const Lane& lane) { return lane.route->worker != worker; });
  const double batch = kept.empty() ? 0 : kept[0].batch;
  return View(std::move(kept), batch);
}

Table build(const std::shared_ptr<const Snapshot>& snapshot, const Surroundings& surroundings) {
  Table table;
  for (const Application& application : snapshot->applications)
    table.emplace(application.name, entry_of(snapshot, application, surroundings));
  return table;
}

}  // namespace tidewise::router
