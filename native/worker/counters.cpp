#include "counters.hpp"

#include <algorithm>

namespace tidewise::worker {

void Histogram::add(double value, const std::vector<double>& bounds) {
  counts.resize(bounds.size() + 1);
  ++counts[std::size_t(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin())];
  total += value;
}

VariantCounters& Counters::batch_done(const Batch& batch, double now) {
  const Model& model = batch.servable->model;
  VariantCounters& counts = variants[{model.application, model.variant}];
  const double seconds = now - batch.started;
  ++counts.batches;
  counts.rows += std::uint64_t(batch.rows);
  counts.computed += seconds;
  counts.expected += batch.servable->latency[std::size_t(batch.rows)];
  counts.durations.add(seconds, bounds);
  counts.last = now;
  ++counts.sizes[batch.rows];
  counts.computed_by_size[batch.rows] += seconds;
  return counts;
}

void Counters::answered(const Query& query, const Batch& batch, bool missed, VariantCounters& counts, double now) {
  ++counts.served;
  counts.late += missed;
  counts.queued += batch.started - query.arrived;
  counts.query_seconds += now - batch.started;
  ++(missed ? late : on_time);
}

}  // namespace tidewise::worker
