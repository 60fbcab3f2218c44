#include "queue.hpp"

#include <algorithm>

namespace tidewise::worker {

Lane::Fit Lane::fitting(std::size_t start, std::int64_t cap) const {
  if (total_ == std::int64_t(places_.size())) {
    const auto count = std::min(std::int64_t(places_.size() - start), cap);
    return {std::size_t(count), count};
  }
  Fit fit{0, 0};
  const std::size_t end = std::min(places_.size(), start + std::size_t(cap));
  for (std::size_t place = start; place < end && fit.rows + places_[place].rows <= cap; ++place) {
    ++fit.count;
    fit.rows += places_[place].rows;
  }
  return fit.count ? fit : Fit{1, cap};
}

bool Lane::before(const Lane& other) const {
  const std::size_t common = std::min(size(), other.size());
  for (std::size_t place = 0; place < common; ++place)
    if (places_[place].deadline != other[place].deadline) return places_[place].deadline < other[place].deadline;
  return size() != other.size() ? size() < other.size() : born < other.born;
}

void Lane::add(QueryPtr query, std::int64_t rows) {
  const double deadline = query->deadline;
  auto place = places_.end();
  if (!places_.empty() && deadline < places_.back().deadline)
    place = std::upper_bound(places_.begin(), places_.end(), deadline,
                             [](double wanted, const Place& one) { return wanted < one.deadline; });
  places_.insert(place, Place{std::move(query), deadline, rows});
  total_ += rows;
}

void Lane::remove(const Query& query) {
  auto place = std::lower_bound(places_.begin(), places_.end(), query.deadline,
                                [](const Place& one, double wanted) { return one.deadline < wanted; });
  while (place->query.get() != &query) ++place;
  total_ -= place->rows;
  places_.erase(place);
}

std::vector<Place> Lane::pop(std::size_t count) {
  std::vector<Place> taken;
  taken.reserve(count);
  for (; count > 0; --count) {
    total_ -= places_.front().rows;
    taken.push_back(std::move(places_.front()));
    places_.pop_front();
  }
  return taken;
}

std::size_t Lane::due(double now) const {
  const auto end = std::upper_bound(places_.begin(), places_.end(), now,
                                    [](double wanted, const Place& one) { return wanted < one.deadline; });
  return std::size_t(end - places_.begin());
}

void Queue::requeue(const QueryPtr& query, std::int64_t rows, const std::string& pin) {
  put(query, rows, LaneKey{query->lane.application, pin, query->lane.shapes});
}

QueryPtr Queue::cancel(std::uint64_t id) {
  const auto found = lane_of_.find(id);
  if (found == lane_of_.end()) return nullptr;
  const auto [query, lane] = found->second;
  lane_of_.erase(found);
  lane->remove(*query);
  forget_if_empty(*lane);
  return query;
}

std::vector<Place> Queue::pop(Lane& lane, std::size_t count) {
  auto taken = lane.pop(count);
  for (const Place& one : taken) lane_of_.erase(one.query->id);
  forget_if_empty(lane);
  return taken;
}

std::vector<QueryPtr> Queue::expire(double now) {
  std::vector<QueryPtr> gone;
  for (Lane* lane : std::vector<Lane*>(order_))
    if (const std::size_t count = lane->due(now))
      for (Place& one : pop(*lane, count)) gone.push_back(std::move(one.query));
  return gone;
}

double Queue::next_deadline() const {
  double earliest = kNever;
  for (const Lane* lane : order_) earliest = std::min(earliest, (*lane)[0].deadline);
  return earliest;
}

std::vector<Lane*> Queue::by_urgency() const {
  std::vector<Lane*> lanes = order_;
  if (lanes.size() > 1)
    std::sort(lanes.begin(), lanes.end(), [](const Lane* one, const Lane* other) { return one->before(*other); });
  return lanes;
}

void Queue::put(const QueryPtr& query, std::int64_t rows, const LaneKey& key) {
  auto& lane = lanes_[key];
  if (lane == nullptr) {
    lane = std::make_unique<Lane>(key, born_++);
    order_.push_back(lane.get());
  }
  lane->add(query, rows);
  lane_of_[query->id] = {query, lane.get()};
}

void Queue::forget_if_empty(Lane& lane) {
  if (!lane.empty()) return;
  order_.erase(std::find(order_.begin(), order_.end(), &lane));
  lanes_.erase(LaneKey(lane.key));  // a copy: the lane dies with its entry
}

}  // namespace tidewise::worker
