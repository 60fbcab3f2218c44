#include "cycle.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

namespace tidewise::router {

double exact_sum(const std::vector<double>& values) {
  std::vector<double> partials;  // do not overlap, rising in magnitude; their exact sum is that of the values so far
  for (double x : values) {
    size_t kept = 0;
    for (double y : partials) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      const double high = x + y, low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
  }
  double high = 0, low = 0;
  while (!partials.empty() && low == 0) {
    const double x = high, y = partials.back();
    partials.pop_back();
    high = x + y;
    low = y - (high - x);
  }
  // Halfway between two doubles, the next partial decides on which side the sum lies.
  if (!partials.empty() && ((low < 0 && partials.back() < 0) || (low > 0 && partials.back() > 0))) {
    const double y = low * 2, x = high + y;
    if (y == x - high) high = x;
  }
  return high;
}

namespace {

std::vector<int> counts_of(const std::vector<double>& shares) {
  std::vector<int> counts;
  for (const double share : shares) counts.push_back(int(std::floor(share * kSlots)));
  std::vector<size_t> by_remainder(shares.size());
  std::iota(by_remainder.begin(), by_remainder.end(), 0);
  std::stable_sort(by_remainder.begin(), by_remainder.end(), [&](size_t a, size_t b) {
    return counts[a] - shares[a] * kSlots < counts[b] - shares[b] * kSlots;
  });
  const int left = kSlots - std::accumulate(counts.begin(), counts.end(), 0);
  const size_t raised = left < 0 ? by_remainder.size() + size_t(std::max(left, -int(by_remainder.size())))
                                 : std::min(size_t(left), by_remainder.size());
  for (size_t index = 0; index < raised; ++index) ++counts[by_remainder[index]];
  return counts;
}

}  // namespace

std::vector<uint16_t> smooth_cycle(const std::vector<double>& shares) {
  using Turn = std::tuple<int, int, int>;  // may come at, due, index
  std::vector<Turn> turns;
  const auto counts = counts_of(shares);
  for (int index = 0; index < int(counts.size()); ++index)
    for (int turn = 0; turn < counts[index]; ++turn)
      turns.emplace_back(turn * kSlots / counts[index],
                         ((turn + 1) * kSlots + counts[index] - 1) / counts[index], index);
  std::sort(turns.begin(), turns.end());
  std::vector<uint16_t> cycle;
  using Due = std::pair<int, int>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> waiting;
  size_t position = 0;
  while (cycle.size() < turns.size()) {
    for (; position < turns.size() && std::get<0>(turns[position]) <= int(cycle.size()); ++position)
      waiting.emplace(std::get<1>(turns[position]), std::get<2>(turns[position]));
    if (waiting.empty()) break;
    cycle.push_back(uint16_t(waiting.top().second));
    waiting.pop();
  }
  return cycle;
}

}  // namespace tidewise::router
