// Every column of an application whose loss exceeds the least one by no more than a given excess.
#pragma once

#include "packing.hpp"
#include "pricing.hpp"

namespace tidewise::planner {

// `columns` hold their excess over the least loss in `loss`, ascending. They are complete up to `complete`, negative
// if not even the cheapest is sure.
struct Enumeration {
  std::vector<Column> columns;
  double complete;
};

Enumeration enumerate_columns(const Pricing& pricing, const std::vector<int>& devices, const Packing& packing,
                              double least_loss, double excess, size_t most_columns, long most_nodes);

}  // namespace tidewise::planner
