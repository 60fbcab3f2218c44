// Queries, the parts of them that share a batch, and the batch: worker/query.py says the same in Python.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "model.hpp"

namespace tidewise::worker {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-9;  // seconds; deadlines that differ by less are equal

using Shape = std::vector<std::int64_t>;

// Queries with equal keys may share a batch. `pin` is the variant the caller insists on, empty if any will do.
struct LaneKey {
  std::string application, pin;
  std::vector<Shape> shapes;  // of the inputs with a free axis

  auto key() const { return std::tie(application, pin, shapes); }
  bool operator<(const LaneKey& other) const { return key() < other.key(); }
};

// One inference asked for. Whoever drives the machine derives its own kind, with what it has to remember.
struct Query {
  std::uint64_t id = 0;
  LaneKey lane;
  double arrived = 0, deadline = 0;
  std::int64_t rows = 1;

  virtual ~Query() = default;
};
using QueryPtr = std::shared_ptr<Query>;

// Rows `start` to `start + rows` of one query.
struct Part {
  QueryPtr query;
  std::int64_t start = 0, rows = 0;

  bool last() const { return start + rows == query->rows; }
};

enum class Cause { full, idle, deadline, drain };
constexpr const char* kCauses[] = {"full", "idle", "deadline", "drain"};

// Parts run together on one variant, padded to `size` rows.
struct Batch {
  ServablePtr servable;
  std::vector<Part> parts;
  std::int64_t rows = 0;
  int size = 0;
  Cause cause = Cause::idle;
  double started = 0;
  int plan_version = 0;
};
using BatchPtr = std::shared_ptr<const Batch>;

// Why a query was not answered, as far as a device decides it: core/outcome.py's names.
enum class Reason { deadline, hopeless, queue_full, no_worker, cancelled, engine, draining };
constexpr const char* kReasons[] = {"deadline", "hopeless", "queue_full", "no_worker", "cancelled", "engine", "draining"};

}  // namespace tidewise::worker
