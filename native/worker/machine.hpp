// One device as a machine: queue, batching, variant choice and what it can run, joined. No clock, no sockets, no threads.
// worker/device.py is the reference: given the same events at the same times, both take the same actions.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "batching.hpp"
#include "choice.hpp"
#include "counters.hpp"
#include "queue.hpp"
#include "repertoire.hpp"

namespace tidewise::worker {

// What a machine asks of whoever drives it.
struct Action {
  enum class Kind {
    start,     // run `batch`, then say batch_done
    answered,  // the last rows of `query` came with `batch`
    ended,     // `query` ends without an answer, for `reason`, in the words of `text`
    released,  // nothing needs `model` any more
  } kind;
  BatchPtr batch = nullptr;
  QueryPtr query = nullptr;
  Reason reason = Reason::deadline;
  std::string text = {};
  Model model = {};
};
using Actions = std::vector<Action>;

struct Policy {
  const Rule* rule;
  Choice choice;
  std::size_t max_queue = 512;
  double reserve = 0, linger = 2;
};

// `now` never runs backwards from one event to the next.
class Machine {
 public:
  Machine(const Policy& policy, std::vector<double> bounds);

  using Failures = std::unordered_map<std::uint64_t, std::string>;

  Actions arrived(const QueryPtr& query, double now);
  // The running batch ended; `failures` are the sentences of queries whose rows the engine could not run.
  Actions batch_done(double now, const Failures& failures = {});
  // `wake` has come.
  Actions timer(double now);
  // Nobody wants this query's answer any more; unknown and ended queries are ignored.
  Actions cancelled(std::uint64_t id, double now, Reason reason);
  // Hosting has decided something.
  Actions hosted(const Hosted& hosted, double now);
  // Stop soon: never wait for more queries.
  Actions drain(double now);

  double wake() const { return wake_; }
  double margin() const { return margin_; }
  const BatchPtr& running() const { return running_; }
  const Queue& queue() const { return queue_; }
  const Counters& counters() const { return counters_; }
  Repertoire& repertoire() { return repertoire_; }
  std::size_t gone() const { return gone_.size(); }

 private:
  struct Decided {
    ServablePtr servable;
    Decision decision;
  };
  Actions settled(Actions actions, double now);
  void dispatch(Actions& actions, double now);
  // Run or wait, after dropping the heads that cannot be met; false if that was all of them.
  bool decide(Lane& lane, Decided& decided, Actions& actions, double now);
  void start(Lane& lane, const Decided& decided, Actions& actions, double now);
  void learn(const Batch& batch, bool late, double now);
  QueryPtr running_query(std::uint64_t id) const;
  Action ended(const QueryPtr& query, Reason reason, std::string text = {});
  bool needed(const Model& model) const;

  Policy policy_;
  Queue queue_;
  Repertoire repertoire_;
  Counters counters_;
  BatchPtr running_;
  bool draining_ = false;
  double wake_ = kNever, wait_ = kNever;
  std::set<std::uint64_t> gone_;  // queries of the running batch that ended before it did
  int target_ = 1;
  double margin_;
};

}  // namespace tidewise::worker
