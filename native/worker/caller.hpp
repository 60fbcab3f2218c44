// A query somebody waits for, from its place in the queue to its answer: worker/caller.py and worker/answer.py in C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "query.hpp"
#include "tensors.hpp"

namespace tidewise::worker {

class Sink;

// Of the time before its first rows `started`, the device was idle for `waited` seconds; it `computed` for so many.
struct Caller : Query {
  std::vector<Input> inputs;
  std::shared_ptr<const void> keep;  // the inputs' memory
  std::vector<std::string> outputs;
  Sink* sink = nullptr;

  double started = -1, waited = 0, computed = 0;
  std::vector<Piece> pieces;  // in the order of `outputs`
};
using CallerPtr = std::shared_ptr<Caller>;

// A query's end. `pieces` follow one another along the rows; each holds the outputs in the query's order.
struct Answer {
  std::vector<Piece> pieces;
  std::string variant;
  int version = 0, plan_version = 0;
  double queued = 0, computed = 0, waited = 0;
  std::int64_t batch = 0;
};

struct Delivery {
  CallerPtr caller;
  bool answered = false;
  Answer answer;
  Reason reason = Reason::deadline;
  std::string text;
};

// Who is told of queries' ends, from any thread; must not block.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void deliver(std::vector<Delivery> deliveries) = 0;
};

}  // namespace tidewise::worker
