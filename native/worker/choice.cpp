#include "choice.hpp"

#include <algorithm>

namespace tidewise::worker {
namespace {

const ServablePtr& planned(const Lane&, const std::vector<ServablePtr>& warm, double) { return warm.front(); }

// Whether batches of the best rate, back to back from `now`, end by every batch's first deadline.
bool drains(const Lane& lane, const Servable& servable, double now) {
  double finish = now;
  std::size_t place = 0;
  std::int64_t left = lane.total();
  while (place < lane.size()) {
    const auto fit = lane.fitting(place, servable.brisk[std::size_t(std::min<std::int64_t>(left, servable.cap()))]);
    left -= fit.rows;
    finish += servable.span(std::max(fit.rows, lane[place].rows));
    if (finish > lane[place].deadline + kSlack) return false;
    place += fit.count;
  }
  return true;
}

const ServablePtr& anytime(const Lane& lane, const std::vector<ServablePtr>& warm, double now) {
  for (const ServablePtr& one : warm)
    if (drains(lane, *one, now)) return one;
  return *std::max_element(warm.begin(), warm.end(), [](const ServablePtr& one, const ServablePtr& other) {
    return one->rate() < other->rate();
  });
}

}  // namespace

Choice choice_named(const std::string& name) {
  if (name == "planned") return planned;
  if (name == "anytime") return anytime;
  return nullptr;
}

}  // namespace tidewise::worker
