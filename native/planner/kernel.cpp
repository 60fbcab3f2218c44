#include "kernel.hpp"

#include <utility>

#include "cheapest.hpp"
#include "enumeration.hpp"
#include "join.hpp"
#include "moves.hpp"

namespace tidewise::planner {

Kernel::Kernel(std::vector<int> devices, std::vector<double> demand, std::vector<double> least,
               std::vector<double> floor, std::vector<int> replicas, std::vector<int> start, std::vector<int> pair_type,
               std::vector<double> capacity, std::vector<double> worth, std::vector<int> current, double swap_cost)
    : problem_{std::move(devices), {}, swap_cost, static_cast<int>(pair_type.size())}, packing_(problem_.devices) {
  for (size_t a = 0; a < demand.size(); ++a) {
    Application application{demand[a], least[a], floor[a], replicas[a], {}};
    for (int k = start[a]; k < start[a + 1]; ++k) {
      application.pairs.push_back({pair_type[k], k, current[k], capacity[k], worth[k]});
    }
    problem_.applications.push_back(std::move(application));
  }
}

// Lagrangian: sum_a max_column (value - price of its devices) + price of all devices bounds the objective.
Priced Kernel::price(std::vector<double> prices, long most_nodes) {
  prices_ = std::move(prices);
  least_loss_.clear();
  Priced priced;
  priced.hostings.assign(problem_.pair_count, 0);
  for (size_t t = 0; t < prices_.size(); ++t) priced.bound += prices_[t] * problem_.devices[t];
  for (const Application& application : problem_.applications) {
    if (application.demand <= 0 || application.pairs.empty()) {
      least_loss_.push_back(0.0);
      priced.use.emplace_back(problem_.types(), 0);
      priced.values.push_back(0.0);
      priced.found.push_back(true);
      continue;
    }
    const Pricing pricing(application, prices_, problem_.swap_cost);
    const Cheapest cheapest = cheapest_column(pricing, problem_.devices, packing_, most_nodes);
    least_loss_.push_back(cheapest.least_loss);
    priced.bound += pricing.ceiling() - cheapest.least_loss;
    priced.found.push_back(cheapest.found);
    priced.use.push_back(cheapest.found ? cheapest.column.use : std::vector<int>(problem_.types(), 0));
    double value = pricing.ceiling() - cheapest.column.loss;
    for (int t = 0; t < problem_.types(); ++t) value += prices_[t] * priced.use.back()[t];
    priced.values.push_back(cheapest.found ? value : 0.0);
    for (const Hosting& hosting : cheapest.column.hostings) {
      priced.hostings[application.pairs[hosting.pair].index] = hosting.count;
    }
  }
  return priced;
}

double Kernel::enumerate(double excess, size_t most_columns, long most_nodes) {
  columns_.clear();
  double complete = excess;
  for (size_t a = 0; a < problem_.applications.size(); ++a) {
    const Application& application = problem_.applications[a];
    if (application.demand <= 0 || application.pairs.empty()) {
      columns_.push_back({{std::vector<int>(problem_.types(), 0), {}, 0.0}});
      continue;
    }
    const Pricing pricing(application, prices_, problem_.swap_cost);
    Enumeration found = enumerate_columns(pricing, problem_.devices, packing_, least_loss_[a], excess, most_columns,
                                          most_nodes);
    complete = std::min(complete, found.complete);
    columns_.push_back(std::move(found.columns));
  }
  return complete;
}

std::vector<size_t> Kernel::columns() const {
  std::vector<size_t> sizes;
  for (const auto& some : columns_) sizes.push_back(some.size());
  return sizes;
}

Joint Kernel::join(double limit, size_t beam) const {
  const Joined joined = join_columns(columns_, problem_.devices, prices_, packing_, limit, beam);
  Joint joint{joined.found, joined.loss, std::vector<int>(problem_.pair_count, 0), joined.dropped, joined.states};
  for (size_t a = 0; a < joined.chosen.size(); ++a) {
    for (const Hosting& hosting : columns_[a][joined.chosen[a]].hostings) {
      joint.counts[problem_.applications[a].pairs[hosting.pair].index] = hosting.count;
    }
  }
  return joint;
}

std::vector<int> Kernel::improve(const std::vector<int>& counts, const std::vector<double>& targets,
                                 const std::array<double, 3>& charges, int most) const {
  Moves moves(problem_, targets, {charges[0], charges[1], charges[2]}, counts);
  moves.improve(most);
  return moves.counts();
}

}  // namespace tidewise::planner
