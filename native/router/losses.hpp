#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reason.hpp"

namespace tidewise::router {

/// A query that was not answered: core/loss.py in C++.
struct Loss {
  std::string label, application;
  Reason reason;
  std::string sentence, request_id, query_id, worker, traceparent;
};

/// Those of the time since the last reading: as many in full as anybody would write down, the others as counts.
class Losses {
 public:
  using Key = std::pair<std::string, Reason>;

  /// Whether this one is worth telling in full; if not, it is counted.
  bool wants(const std::string& label, Reason reason);
  void tell(Loss loss);
  const std::vector<Loss>& told() const { return told_; }
  const std::map<Key, uint64_t>& untold() const { return untold_; }
  void clear();

 private:
  std::vector<Loss> told_;
  std::map<Key, uint64_t> seen_, untold_;
};

}  // namespace tidewise::router
