#include "tally.hpp"

#include <algorithm>

namespace tidewise::router {

void Histogram::add(const std::vector<double>& bounds, double value) {
  counts.resize(bounds.size() + 1);
  ++counts[size_t(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin())];
  total += value;
}

void Counts::answered(const std::string& variant, const Answered& answer, const std::vector<double>& bounds) {
  Figures& figures = variants[variant];
  const double inside = answer.said.queued + answer.said.computed;
  const double total = std::max(answer.seconds, inside);  // two clocks may differ; the stages must sum to the total
  figures.total.add(bounds, total);
  figures.forward.add(bounds, total - inside);
  figures.queued.add(bounds, answer.said.queued);
  figures.computed.add(bounds, answer.said.computed);
  figures.worth += answer.worth;
  figures.last = answer.wall;
  // A worker that invents batch sizes must not make this map grow.
  auto& [queries, computed] = figures.batches[uint32_t(std::min<int64_t>(answer.said.batch, 4096))];
  ++queries;
  computed += answer.said.computed;
}

bool Counts::empty() const {
  const bool none = std::all_of(lost, lost + kReasons, [](uint64_t count) { return count == 0; });
  return none && arrivals == 0 && retries == 0 && on_time == 0 && late == 0;
}

void Counts::clear() {
  arrivals = retries = on_time = late = 0;
  std::fill(lost, lost + kReasons, 0);
  variants.clear();
}

}  // namespace tidewise::router
