#include "bound_table.hpp"

#include <algorithm>

namespace tidewise::planner {

namespace {
constexpr double kImpossible = 1e30;
}

BoundTable::BoundTable(const Pricing& pricing, const std::vector<int>& pairs, int buckets)
    : buckets_(buckets),
      width_(pricing.application().demand / buckets),
      table_((pairs.size() + 1) * static_cast<size_t>(buckets), kImpossible) {
  for (size_t i = pairs.size(); i-- > 0;) fill_row(pricing, pairs[i], i);
}

// Row i from row i + 1. Bucket b stands for R in (b w, (b + 1) w]; one device of pair k either is the last one needed,
// or leaves R - capacity, which lies in one of up to three buckets of the same row.
void BoundTable::fill_row(const Pricing& pricing, int k, size_t row) {
  double* here = &table_[row * buckets_];
  const double* next = here + buckets_;
  const double capacity = pricing.pair(k).capacity;
  const double loss = pricing.full_loss(k) + pricing.least_swap(k);
  const double per_slack = pricing.pair(k).worth - pricing.lambda();
  const double shift = capacity / width_;
  for (int b = 0; b < buckets_; ++b) {
    double least = next[b];
    if (capacity >= b * width_) {
      const double least_slack = std::max(0.0, capacity - (b + 1) * width_);
      const double most_slack = capacity - b * width_;
      least = std::min(least, loss + std::min(per_slack * least_slack, per_slack * most_slack));
    }
    const int from = static_cast<int>(std::floor(b - shift - 1e-9));
    const int to = std::min(b - 1, static_cast<int>(std::floor(b - shift + 1e-9)) + 1);
    for (int left = std::max(from, 0); left <= to; ++left) least = std::min(least, loss + here[left]);
    here[b] = least;
  }
}

}  // namespace tidewise::planner
