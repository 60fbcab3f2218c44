// Batching rules by name: worker/batching.py and worker/rivals.py in C++, where their reasons are told.
#pragma once

#include <optional>
#include <string>

#include "queue.hpp"

namespace tidewise::worker {

// What to do with one lane of an idle device.
struct Decision {
  enum class Kind { run, wait, drop } kind;
  std::size_t count = 0;  // queries to run or to drop
  std::int64_t rows = 0;
  int size = 0;
  Cause cause = Cause::idle;
  double until = 0;  // of a wait
};

// `decide` for a lane that is not empty; `target`, the rule's only memory, starts at 1 and is renewed after every batch.
struct Rule {
  Decision (*decide)(const Lane& lane, const Servable& servable, double now, int target);
  int (*learn)(int target, const std::vector<int>& sizes, bool late);
};

// The rule of this name; null if it is not known here.
const Rule* rule_named(const std::string& name);

// The batch made of the lane's first queries: as many as fit, in order.
Decision fill(const Lane& lane, const Servable& servable, Cause cause, std::optional<std::int64_t> limit = std::nullopt);

}  // namespace tidewise::worker
