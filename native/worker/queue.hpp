// The bounded queue of one device, earliest deadline first, in lanes that never mix: worker/queue.py in C++.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query.hpp"

namespace tidewise::worker {

// A query in a lane; `rows` are those still to be run.
struct Place {
  QueryPtr query;
  double deadline;
  std::int64_t rows;
};

// Queries that may share a batch, by deadline.
class Lane {
 public:
  Lane(LaneKey key, std::uint64_t born) : key(std::move(key)), born(born) {}

  const LaneKey key;
  const std::uint64_t born;  // rank among lanes by when they began

  std::size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  std::int64_t total() const { return total_; }
  const Place& operator[](std::size_t place) const { return places_[place]; }

  struct Fit {
    std::size_t count;
    std::int64_t rows;
  };
  // Queries and rows from place `start` that fit into `cap` rows; one too large for that counts in part.
  Fit fitting(std::size_t start, std::int64_t cap) const;
  // Whether this lane goes first: by its deadlines in order, then by its beginning.
  bool before(const Lane& other) const;

  void add(QueryPtr query, std::int64_t rows);
  void remove(const Query& query);
  std::vector<Place> pop(std::size_t count);
  // How many queries have a deadline up to `now`.
  std::size_t due(double now) const;

 private:
  std::deque<Place> places_;
  std::int64_t total_ = 0;
};

class Queue {
 public:
  explicit Queue(std::size_t bound) : bound_(bound) {}

  std::size_t size() const { return lane_of_.size(); }
  std::size_t lanes() const { return order_.size(); }
  bool full() const { return lane_of_.size() >= bound_; }
  const std::vector<Lane*>& all() const { return order_; }

  void add(const QueryPtr& query) { put(query, query->rows, query->lane); }
  // Put the rest of a query back, pinned to the variant that ran its first rows.
  void requeue(const QueryPtr& query, std::int64_t rows, const std::string& pin);
  // Take a query out; null if it is not queued.
  QueryPtr cancel(std::uint64_t id);
  std::vector<Place> pop(Lane& lane, std::size_t count);
  // Take out every query whose deadline has passed.
  std::vector<QueryPtr> expire(double now);
  double next_deadline() const;
  // The lanes, the one with the earliest deadline first.
  std::vector<Lane*> by_urgency() const;

 private:
  void put(const QueryPtr& query, std::int64_t rows, const LaneKey& key);
  void forget_if_empty(Lane& lane);

  std::size_t bound_;
  std::uint64_t born_ = 0;
  std::map<LaneKey, std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> order_;  // as they began
  std::unordered_map<std::uint64_t, std::pair<QueryPtr, Lane*>> lane_of_;
};

}  // namespace tidewise::worker
