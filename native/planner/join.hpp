// One column for every application, within the devices there are, at the least total excess.
//
// A dynamic program over the applications; a state is the vector of devices used so far. The objective is the sum of
// excesses plus the price of devices left idle, so that it is exactly what the plan stays below the price bound.
#pragma once

#include <vector>

#include "packing.hpp"
#include "problem.hpp"

namespace tidewise::planner {

struct Joined {
  bool found = false;
  double loss = 0;
  std::vector<int> chosen;  // column of each application
  double dropped = 1e300;  // every combination with less loss than this was looked at (if within the limit)
  long states = 0;
};

// `columns[a]` ascend in excess. States with more loss than `limit` are left out, and the worst above `beam`.
Joined join_columns(const std::vector<std::vector<Column>>& columns, const std::vector<int>& devices,
                    const std::vector<double>& prices, const Packing& packing, double limit, size_t beam);

}  // namespace tidewise::planner
