// Which worker a query goes to, or that it goes to none: router/choice.py in C++, with the same numbers.
#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "reason.hpp"
#include "table.hpp"

namespace tidewise::router {

using Generator = std::mt19937_64;
using Choose = const Lane& (*)(const View&, double now, uint64_t turn, Generator&);

/// The policy of this name; null if there is none.
Choose policy_named(const std::string& name);

/// A lane, or why there is none; `predicted` seconds to the earliest finish, if that is why.
struct Decision {
  const Lane* lane = nullptr;
  Reason reason = Reason::no_worker;
  double predicted = 0;
};

/// `budget`: seconds the query has left; `turn` counts the application's queries.
Decision decide(Choose choose, const View& view, double now, double budget, uint64_t turn, Generator& generator);

double predicted_finish(const Lane& lane, double now);

}  // namespace tidewise::router
