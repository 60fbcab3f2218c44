#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "head.hpp"
#include "reason.hpp"

namespace tidewise::router {

/// Counts of values by bucket: core/histogram.py in C++.
struct Histogram {
  std::vector<uint64_t> counts;
  double total = 0;
  void add(const std::vector<double>& bounds, double value);
};

/// What has been seen of one variant since the last reading: router/statistics.py says what the parts mean.
struct Figures {
  Histogram total, forward, queued, computed;
  double worth = 0, last = 0;                                // `last` on the wall clock
  std::map<uint32_t, std::pair<uint64_t, double>> batches;   // queries and computing time by batch size
};

/// One answered query.
struct Answered {
  AnswerHead said;
  double seconds, wall, worth;
};

/// Arrivals and ends under one label since the last reading, and its turns, which are never reset.
struct Counts {
  std::string label;
  uint64_t turns = 0;
  uint64_t arrivals = 0, retries = 0, on_time = 0, late = 0;
  uint64_t lost[kReasons] = {};
  std::map<std::string, Figures> variants;

  void answered(const std::string& variant, const Answered& answer, const std::vector<double>& bounds);
  bool empty() const;
  void clear();
};

}  // namespace tidewise::router
