// One application's counts and what they are worth, for the local search.
#pragma once

#include <vector>

#include "problem.hpp"

namespace tidewise::planner {

// What is worth more than accuracy, per query per second: demand not served, and demand below the fraction promised.
struct Charges {
  double short_of_demand;
  double short_of_target;
  double short_of_replicas;  // per device
};

// Pair numbers, -1 for none: a device stops hosting `from` and another starts hosting `to`.
struct Change {
  int from = -1;
  int to = -1;
};

class Hosted {
 public:
  Hosted(const Application& application, double target, double swap_cost, const Charges& charges)
      : application_(&application),
        target_(target),
        swap_cost_(swap_cost),
        charges_(charges),
        counts_(application.pairs.size(), 0) {}

  const Application& application() const { return *application_; }
  int count(int pair) const { return counts_[pair]; }
  const std::vector<int>& hosted() const { return hosted_; }  // pairs with devices, most worth first

  void add(int pair, int count);
  void apply(const Change& change);

  // The value once `change` is made (the default changes nothing).
  double value(const Change& change = {}) const;

 private:
  double swaps(const Change& change) const;

  const Application* application_;
  double target_;  // queries per second that are promised
  double swap_cost_;
  Charges charges_;
  std::vector<int> counts_;
  std::vector<int> hosted_;
};

}  // namespace tidewise::planner
