// Plain counts of what one device did since it started: worker/counters.py in C++.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "query.hpp"

namespace tidewise::worker {

// Counts of durations by bucket; the last is beyond all bounds.
struct Histogram {
  std::vector<std::uint64_t> counts;
  double total = 0;

  void add(double value, const std::vector<double>& bounds);
};

struct VariantCounters {
  std::uint64_t served = 0, failed = 0, late = 0, batches = 0, rows = 0;
  double queued = 0, computed = 0, expected = 0, query_seconds = 0, last = 0;
  Histogram durations;
  std::map<std::int64_t, std::uint64_t> sizes;
  std::map<std::int64_t, double> computed_by_size;
};

// Every arrival is in exactly one of answered, ended, queued or running.
struct Counters {
  explicit Counters(std::vector<double> bounds) : bounds(std::move(bounds)) {}

  std::vector<double> bounds;  // of histograms of seconds
  std::map<std::string, std::uint64_t> arrivals;
  std::uint64_t on_time = 0, late = 0;
  std::map<std::pair<std::string, Reason>, std::uint64_t> ended;  // by application
  std::map<Cause, std::uint64_t> dispatches;
  std::map<std::pair<std::string, std::string>, VariantCounters> variants;

  VariantCounters& batch_done(const Batch& batch, double now);
  void answered(const Query& query, const Batch& batch, bool missed, VariantCounters& counts, double now);
};

}  // namespace tidewise::worker
