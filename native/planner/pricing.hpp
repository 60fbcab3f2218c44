// Losses of one application's columns when a device of type t costs price[t].
//
// Let lambda = max_k (worth_k - price_k / capacity_k), the most a query can earn net of the devices it keeps busy. A
// column that serves the demand D earns at most lambda D; its loss is what it stays below that, and is a sum over its
// pairs, most worth first:
//
//   a fully busy device of pair k        l_k = (lambda - worth_k) capacity_k + price_k  >= 0
//   the last pair, n devices for what    n l_k + (worth_k - lambda) (n capacity_k - R)
//     is left, R <= n capacity_k
//
// plus swap_cost for every device beyond those that host the pair now. Only the last pair is partly busy, because
// with given devices the most accurate ones are filled first. Where not all demand has to be served, a column may also
// leave R queries per second out, with all its devices fully busy, and loses lambda R.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "problem.hpp"

namespace tidewise::planner {

constexpr double kWhole = 1e-9;  // a device need not be this fraction of itself busy

class Pricing {
 public:
  Pricing(const Application& application, const std::vector<double>& prices, double swap_cost);

  const Application& application() const { return *application_; }
  size_t size() const { return application_->pairs.size(); }
  const Pair& pair(int k) const { return application_->pairs[k]; }
  double lambda() const { return lambda_; }
  double price(int type) const { return (*prices_)[type]; }

  // Most an application can earn net of its devices: nothing bounds it better without a search.
  double ceiling() const { return lambda_ * application_->demand; }

  bool charges_swaps() const { return swap_cost_ > 0; }
  double swap_cost() const { return swap_cost_; }

  // Queries per second that a column may leave out.
  double optional() const { return application_->demand - application_->least; }

  double full_loss(int k) const { return loss_[k]; }
  double swap_loss(int k, int count) const {
    return swap_cost_ > 0 ? swap_cost_ * std::max(0, count - pair(k).current) : 0.0;
  }
  // Devices of pair k that serve `rest` as the last pair, at least one.
  int last_count(int k, double rest) const {
    return std::max(1, static_cast<int>(std::ceil(rest / pair(k).capacity - kWhole)));
  }
  double last_loss(int k, double rest, int count) const {
    const double slack = std::max(0.0, count * pair(k).capacity - rest);
    return count * loss_[k] + (pair(k).worth - lambda_) * slack + swap_loss(k, count);
  }

  // Least loss of any column that uses pair k at all.
  double least_loss(int k) const { return std::min(loss_[k], price(pair(k).type)); }

 private:
  const Application* application_;
  const std::vector<double>* prices_;
  double swap_cost_;
  double lambda_;
  std::vector<double> loss_;
};

}  // namespace tidewise::planner
