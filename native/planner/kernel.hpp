// The planner's core behind one class: what the driver in controller/allocation/exact.py calls.
#pragma once

#include <array>
#include <vector>

#include "packing.hpp"
#include "problem.hpp"

namespace tidewise::planner {

struct Priced {
  double bound = 0;
  std::vector<std::vector<int>> use;
  std::vector<double> values;
  std::vector<int> hostings;
  std::vector<bool> found;
  long nodes = 0;
};

struct Joint {
  bool found = false;
  double loss = 0;
  std::vector<int> counts;
  double dropped = 0;
  long states = 0;
};

class Kernel {
 public:
  // Pairs of application a are start[a] .. start[a + 1] - 1, most worth first.
  Kernel(std::vector<int> devices, std::vector<double> demand, std::vector<double> least, std::vector<double> floor,
         std::vector<int> replicas, std::vector<int> start, std::vector<int> pair_type, std::vector<double> capacity, std::vector<double> worth,
         std::vector<int> current, double swap_cost);

  bool joinable() const { return packing_.fits(); }
  Priced price(std::vector<double> prices, long most_nodes);
  double enumerate(double excess, size_t most_columns, long most_nodes);
  std::vector<size_t> columns() const;
  Joint join(double limit, size_t beam) const;
  std::vector<int> improve(const std::vector<int>& counts, const std::vector<double>& targets,
                           const std::array<double, 3>& charges, int most) const;

 private:
  Problem problem_;
  Packing packing_;
  std::vector<double> prices_;
  std::vector<double> least_loss_;  // of each application at these prices
  std::vector<std::vector<Column>> columns_;
};

}  // namespace tidewise::planner
