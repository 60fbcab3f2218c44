// How queries that never saw Python ended, and where their time went: worker/tally.py in C++, read by Python.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "../caller.hpp"
#include "../counters.hpp"

namespace tidewise::worker {

// In seconds; the last four sum to the first.
enum Stage { kTotal, kQueue, kBatch, kCompute, kReply, kStages };

// A query that was not answered, for the log.
struct Loss {
  std::string application;
  Reason reason;
  std::string sentence, request_id, query_id, worker, traceparent;
};

// Written by the front's thread, read by Python's.
class FrontTally {
 public:
  explicit FrontTally(std::vector<double> bounds) : bounds_(std::move(bounds)) {}

  using Served = std::tuple<std::string, std::string, std::string>;  // application, variant, device type
  using Stages = std::array<Histogram, kStages>;

  void answered(const std::string& application, const std::string& device_type, const Answer& answer, double total,
                bool on_time);
  void lost(Loss loss);

  struct Reading {
    std::map<std::pair<std::string, bool>, std::uint64_t> answered;  // by application and whether in time
    std::map<std::pair<std::string, Reason>, std::uint64_t> lost;
    std::map<Served, Stages> stages;
  };
  Reading read() const;

  struct Losses {
    std::deque<Loss> told;
    std::map<std::pair<std::string, Reason>, std::uint64_t> untold;  // how many more
  };
  // Those since last asked.
  Losses take_losses();

 private:
  const std::vector<double> bounds_;
  mutable std::mutex mutex_;
  Reading reading_;
  Losses losses_;
};

}  // namespace tidewise::worker
