// The column of least loss: the pricing problem of the decomposition.
#pragma once

#include "packing.hpp"
#include "pricing.hpp"

namespace tidewise::planner {

struct Cheapest {
  bool found = false;
  Column column;
  double least_loss = 0;  // no column loses less; equal to column.loss if the search finished
};

Cheapest cheapest_column(const Pricing& pricing, const std::vector<int>& devices, const Packing& packing,
                         long most_nodes);

}  // namespace tidewise::planner
