#include "pricing.hpp"

#include <limits>

namespace tidewise::planner {

Pricing::Pricing(const Application& application, const std::vector<double>& prices, double swap_cost)
    : application_(&application),
      prices_(&prices),
      swap_cost_(swap_cost),
      lambda_(-std::numeric_limits<double>::infinity()) {
  for (const Pair& pair : application.pairs) {
    lambda_ = std::max(lambda_, pair.worth - prices[pair.type] / pair.capacity);
  }
  if (application.least < application.demand) lambda_ = std::max(lambda_, 0.0);  // a query left out earns nothing
  for (const Pair& pair : application.pairs) {
    loss_.push_back(std::max(0.0, (lambda_ - pair.worth) * pair.capacity + prices[pair.type]));
  }
}

}  // namespace tidewise::planner
