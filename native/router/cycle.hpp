#pragma once
#include <cstdint>
#include <vector>

namespace tidewise::router {

constexpr int kSlots = 1024;  // of a cycle: shares are exact to 1/1024

/// The exact sum, rounded once (Shewchuk, 1997), as Python's math.fsum: both routers must see the same shares.
double exact_sum(const std::vector<double>& values);

/// Indexes of `shares` (which sum to 1), each as often as its share of the slots, spread evenly: router/table.py,
/// smooth_cycle, has the rule and its source.
std::vector<uint16_t> smooth_cycle(const std::vector<double>& shares);

}  // namespace tidewise::router
