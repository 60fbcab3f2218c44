#include "tally.hpp"

#include <algorithm>

namespace tidewise::worker {
namespace {
constexpr std::size_t kMostLosses = 256;  // kept until Python asks
}

void FrontTally::answered(const std::string& application, const std::string& device_type, const Answer& answer,
                          double total, bool on_time) {
  const double inside = answer.queued + answer.computed;
  total = std::max(total, inside);
  const double seconds[kStages] = {total, answer.queued - answer.waited, answer.waited, answer.computed, total - inside};
  std::lock_guard<std::mutex> guard(mutex_);
  ++reading_.answered[{application, on_time}];
  Stages& stages = reading_.stages[{application, answer.variant, device_type}];
  for (int stage = 0; stage < kStages; ++stage) stages[std::size_t(stage)].add(seconds[stage], bounds_);
}

void FrontTally::lost(Loss loss) {
  std::lock_guard<std::mutex> guard(mutex_);
  ++reading_.lost[{loss.application, loss.reason}];
  if (losses_.told.size() < kMostLosses)
    losses_.told.push_back(std::move(loss));
  else
    ++losses_.untold[{loss.application, loss.reason}];
}

FrontTally::Reading FrontTally::read() const {
  std::lock_guard<std::mutex> guard(mutex_);
  return reading_;
}

FrontTally::Losses FrontTally::take_losses() {
  std::lock_guard<std::mutex> guard(mutex_);
  return std::exchange(losses_, {});
}

}  // namespace tidewise::worker
