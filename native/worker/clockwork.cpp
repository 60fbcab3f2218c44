#include "clockwork.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>

#include "../clock.hpp"
#include "query.hpp"

namespace tidewise::worker {

Clockwork::Clockwork() : thread_([this] { serve(); }) {}

Clockwork::~Clockwork() {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Clockwork::set(Ringing* who, double at) {
  bool earlier;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    earlier = std::all_of(due_.begin(), due_.end(), [at](const auto& one) { return at < one.second; });
    if (at == kNever)
      due_.erase(who);
    else
      due_[who] = at;
  }
  if (earlier) changed_.notify_one();
}

void Clockwork::forget(Ringing* who) {
  std::unique_lock<std::mutex> lock(mutex_);
  due_.erase(who);
  rung_.wait(lock, [this, who] { return ringing_ != who; });
}

void Clockwork::serve() {
#ifdef __linux__
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds; by default the system may be 50 us late
#endif
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    const auto next = std::min_element(due_.begin(), due_.end(),
                                       [](const auto& one, const auto& other) { return one.second < other.second; });
    if (next == due_.end()) {
      changed_.wait(lock);
    } else if (const double at = next->second; at > now()) {
      changed_.wait_until(lock, time_point(at));
    } else {
      ringing_ = next->first;
      due_.erase(next);
      lock.unlock();
      ringing_->ring();
      lock.lock();
      ringing_ = nullptr;
      rung_.notify_all();
    }
  }
}

}  // namespace tidewise::worker
