#include "drive.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "../clock.hpp"

namespace tidewise::worker {
namespace {
constexpr double kPatience = 600;                        // seconds; no query here is ever late
constexpr std::uint64_t kOurs = std::uint64_t(1) << 61;  // ids apart from those of real callers
std::atomic<std::uint64_t> ids{0};
}  // namespace

Drive::Drive(Station& station, std::string application, std::vector<std::vector<Input>> queries,
             std::vector<std::string> outputs)
    : station_(station), application_(std::move(application)), queries_(std::move(queries)),
      outputs_(std::move(outputs)) {}

double Drive::run(std::size_t count, std::size_t window) {
  const double began = now();
  std::size_t sent = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  done_ = 0;
  while (done_ < count && failure_.empty()) {
    const std::size_t upto = std::min(count, done_ + window);
    if (sent == upto) {
      ended_.wait(lock);
      continue;
    }
    lock.unlock();
    for (; sent < upto; ++sent) submit(sent % queries_.size());
    lock.lock();
  }
  if (!failure_.empty()) throw std::runtime_error(failure_);
  return now() - began;
}

void Drive::submit(std::size_t place) {
  auto caller = std::make_shared<Caller>();
  caller->id = kOurs | ++ids;
  caller->lane.application = application_;
  caller->deadline = now() + kPatience;
  caller->inputs = queries_[place];
  caller->rows = caller->inputs.front().rows();
  caller->outputs = outputs_;
  caller->sink = this;
  station_.submit(caller);
}

void Drive::deliver(std::vector<Delivery> deliveries) {
  std::lock_guard<std::mutex> guard(mutex_);
  done_ += deliveries.size();
  for (const Delivery& one : deliveries)
    if (!one.answered) failure_ = one.text;
  ended_.notify_one();  // under the lock: the drive may be gone as soon as the last end is known
}

}  // namespace tidewise::worker
