#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "head.hpp"
#include "reason.hpp"

namespace tidewise::router {

/// What has been seen of one variant since the last reading.
struct Figures {
  double total = 0, queued = 0, computed = 0, last = 0;                // seconds; `last` on the wall clock
  std::map<uint32_t, std::pair<uint64_t, double>> batches;             // queries and computing time by batch size
};

/// Arrivals and outcomes of one label since the last reading, and its turns, which are never reset.
struct Counts {
  uint64_t turns = 0;
  uint64_t arrivals = 0;
  uint64_t outcomes[kOutcomes] = {};
  std::map<std::string, Figures> variants;

  void ended(Outcome outcome) { ++outcomes[int(outcome)]; }
  void answered(const std::string& variant, const AnswerHead& said, double seconds, double wall);
  bool empty() const;
  void clear();
};

}  // namespace tidewise::router
