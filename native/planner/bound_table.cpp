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
  for (int b = 0; b < buckets && b * width_ < pricing.optional(); ++b) {
    table_[pairs.size() * buckets_ + b] = pricing.lambda() * b * width_;
  }
  for (size_t i = pairs.size(); i-- > 0;) fill_row(pricing, pairs[i], i);
}

// Row i from row i + 1: any number of devices that must load, and the resident ones in blocks of 1, 2, 4, ... whose
// sums reach every number up to `current`.
void BoundTable::fill_row(const Pricing& pricing, int k, size_t row) {
  double* here = &table_[row * buckets_];
  std::copy(here + buckets_, here + 2 * buckets_, here);
  const double loss = pricing.full_loss(k);
  if (!pricing.charges_swaps()) return use_any_number(pricing, k, loss, here);
  use_any_number(pricing, k, loss + pricing.swap_cost(), here);
  int resident = pricing.pair(k).current;
  for (int block = 1; resident > 0; block *= 2) {
    use_at_most_once(pricing, k, std::min(block, resident), here);
    resident -= block;
  }
}

// Bucket b stands for R in (b w, (b + 1) w]; one device of pair k either is the last one needed, or leaves
// R - capacity, which lies in one of up to three buckets of the same row.
void BoundTable::use_any_number(const Pricing& pricing, int k, double loss, double* here) const {
  const double shift = pricing.pair(k).capacity / width_;
  for (int b = 0; b < buckets_; ++b) {
    double least = std::min(here[b], last(pricing, k, 1, loss, b));
    const int from = static_cast<int>(std::floor(b - shift - 1e-9));
    const int to = std::min(b - 1, static_cast<int>(std::floor(b - shift + 1e-9)) + 1);
    for (int left = std::max(from, 0); left <= to; ++left) least = std::min(least, loss + here[left]);
    here[b] = least;
  }
}

// Downwards, so that what a bucket takes from lower ones does not hold the block yet.
void BoundTable::use_at_most_once(const Pricing& pricing, int k, int devices, double* here) const {
  const double loss = devices * pricing.full_loss(k);
  const double shift = devices * pricing.pair(k).capacity / width_;
  for (int b = buckets_; b-- > 0;) {
    double least = std::min(here[b], last(pricing, k, devices, loss, b));
    const int from = static_cast<int>(std::floor(b - shift - 1e-9));
    const int to = std::min(b - 1, static_cast<int>(std::floor(b - shift + 1e-9)) + 1);
    for (int left = std::max(from, 0); left <= to; ++left) least = std::min(least, loss + here[left]);
    here[b] = least;
  }
}

// Least loss of serving some R of the bucket with these devices as the last ones.
double BoundTable::last(const Pricing& pricing, int k, int devices, double loss, int bucket) const {
  const double room = devices * pricing.pair(k).capacity;
  if (room < bucket * width_) return kImpossible;
  const double per_slack = pricing.pair(k).worth - pricing.lambda();
  const double least_slack = std::max(0.0, room - (bucket + 1) * width_);
  const double most_slack = room - bucket * width_;
  return loss + std::min(per_slack * least_slack, per_slack * most_slack);
}

}  // namespace tidewise::planner
