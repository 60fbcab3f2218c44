#include "tally.hpp"

#include <algorithm>

namespace tidewise::router {

void Counts::answered(const std::string& variant, const AnswerHead& said, double seconds, double wall) {
  Figures& figures = variants[variant];
  figures.total += seconds;
  figures.queued += said.queued;
  figures.computed += said.computed;
  figures.last = wall;
  // A worker that invents batch sizes must not make this map grow.
  auto& [queries, computed] = figures.batches[uint32_t(std::min<int64_t>(said.batch, 65'536))];
  ++queries;
  computed += said.computed;
}

bool Counts::empty() const {
  return arrivals == 0 && variants.empty() && std::all_of(outcomes, outcomes + kOutcomes, [](uint64_t n) { return n == 0; });
}

void Counts::clear() {
  arrivals = 0;
  std::fill(outcomes, outcomes + kOutcomes, 0);
  variants.clear();
}

}  // namespace tidewise::router
