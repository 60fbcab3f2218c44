#include "hosted.hpp"

#include <algorithm>

namespace tidewise::planner {

namespace {

// Fills the most worth first and stops where demand is met or the mean worth would sink below the floor.
struct Fill {
  const Application& application;
  double rest;
  double served = 0;
  double worth = 0;
  int devices = 0;

  explicit Fill(const Application& a) : application(a), rest(a.demand) {}

  void take(int pair, int count) {
    devices += count;
    const Pair& hosting = application.pairs[pair];
    double rate = std::min(rest, count * hosting.capacity);
    if (application.floor > hosting.worth) {
      const double surplus = worth - application.floor * served;
      rate = std::min(rate, std::max(0.0, surplus / (application.floor - hosting.worth)));
    }
    rest -= rate;
    served += rate;
    worth += rate * hosting.worth;
  }
};

}  // namespace

void Hosted::add(int pair, int count) {
  const bool was = counts_[pair] > 0;
  counts_[pair] += count;
  const bool is = counts_[pair] > 0;
  if (was == is) return;
  const auto at = std::lower_bound(hosted_.begin(), hosted_.end(), pair);
  if (is) {
    hosted_.insert(at, pair);
  } else {
    hosted_.erase(at);
  }
}

void Hosted::apply(const Change& change) {
  if (change.from >= 0) add(change.from, -1);
  if (change.to >= 0) add(change.to, 1);
}

double Hosted::value(const Change& change) const {
  Fill fill(*application_);
  bool to_come = change.to >= 0 && counts_[change.to] == 0;
  for (int pair : hosted_) {
    if (to_come && change.to < pair) {
      fill.take(change.to, 1);
      to_come = false;
    }
    const int count = counts_[pair] - (pair == change.from) + (pair == change.to);
    if (count > 0) fill.take(pair, count);
  }
  if (to_come) fill.take(change.to, 1);
  return fill.worth - swaps(change) - charges_.short_of_demand * std::max(0.0, fill.rest) -
         charges_.short_of_target * std::max(0.0, target_ - fill.served) -
         charges_.short_of_replicas * std::max(0, application_->replicas - fill.devices);
}

double Hosted::swaps(const Change& change) const {
  if (swap_cost_ == 0) return 0.0;
  int loads = 0;
  for (int pair : hosted_) loads += std::max(0, counts_[pair] - application_->pairs[pair].current);
  const auto step = [&](int pair, int by) {
    const int current = application_->pairs[pair].current;
    loads += std::max(0, counts_[pair] + by - current) - std::max(0, counts_[pair] - current);
  };
  if (change.from != change.to) {
    if (change.from >= 0) step(change.from, -1);
    if (change.to >= 0) step(change.to, 1);
  }
  return swap_cost_ * loads;
}

}  // namespace tidewise::planner
