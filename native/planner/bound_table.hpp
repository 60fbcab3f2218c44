// A lower bound on the loss of serving what is left with the pairs that are left.
//
// The demand is cut into buckets; at(i, R) bounds the loss of serving R queries per second with pairs i, i+1, ... of a
// list, device numbers unlimited. A knapsack over buckets, each standing for its whole interval, so that the bound
// holds for every R within. Under a swap cost the devices that host a pair already are cheaper, but only so many.
#pragma once

#include <cmath>
#include <vector>

#include "pricing.hpp"

namespace tidewise::planner {

class BoundTable {
 public:
  BoundTable(const Pricing& pricing, const std::vector<int>& pairs, int buckets);

  double at(size_t i, double rest) const {
    int bucket = static_cast<int>(std::ceil(rest / width_ - 1e-9)) - 1;
    bucket = std::min(std::max(bucket, 0), buckets_ - 1);
    return table_[i * buckets_ + bucket] * (1 - 1e-9) - 1e-15;
  }

 private:
  void fill_row(const Pricing& pricing, int k, size_t row);
  void use_any_number(const Pricing& pricing, int k, double loss, double* here) const;
  void use_at_most_once(const Pricing& pricing, int k, int devices, double* here) const;
  double last(const Pricing& pricing, int k, int devices, double loss, int bucket) const;

  int buckets_;
  double width_;
  std::vector<double> table_;
};

}  // namespace tidewise::planner
