// Seconds by which batches are expected to outlast their profile: worker/margin.py in C++.
#pragma once

#include <algorithm>

namespace tidewise::worker {

// Follows the 95 % quantile of what batches take beyond their profile.
inline double renewed(double margin, double expected, double took, double least) {
  constexpr double kWanted = 0.95, kStep = 0.1;
  const bool exceeded = took > expected + margin;
  return std::max(least, margin + kStep * expected * (exceeded ? kWanted : kWanted - 1));
}

// The margin after an idle device had to drop all it had: perhaps the margin alone was the reason.
inline double relaxed(double margin, double least) { return std::max(least, 0.9 * margin); }

}  // namespace tidewise::worker
