#pragma once
#include <random>

#include "choice.hpp"
#include "loop.hpp"
#include "losses.hpp"
#include "table.hpp"
#include "tally.hpp"
#include "wording.hpp"

namespace tidewise::router {

constexpr size_t kHeldQueries = 4096;
constexpr size_t kHeldMessages = 16;  // times the message limit: the bytes of all queries that may be held at once

/// What all queries of a router work with.
struct Desk {
  explicit Desk(Loop& loop) : loop(loop) {}

  Loop& loop;
  Table table;  // replaced as a whole between two events, so that no query sees half of one
  size_t max_message = 64 << 20;
  Choose choose = policy_named("least-backlog");
  Generator generator{std::random_device{}()};
  Counts unknown;           // arrivals under names that are no application
  Losses losses;
  std::vector<double> bounds;  // of histograms
  size_t queries = 0;       // held: admitted, and not answered yet
  size_t bytes = 0;         // of the messages of those
  size_t unread_bytes = 0;  // buffered of queries whose head has not been read yet
  size_t calls = 0;         // open calls of every kind

  /// A name for a query that came without one.
  std::string new_name() { return prefix_ + "-" + hexadecimal(++names_); }
  bool full() const { return queries >= kHeldQueries || bytes >= kHeldMessages * max_message; }

 private:
  const std::string prefix_ = hexadecimal(uint32_t(generator()));
  uint64_t names_ = 0;
};

}  // namespace tidewise::router
