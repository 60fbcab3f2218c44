// One thread that rings for all devices of a process when their machines' timers are due.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace tidewise::worker {

// Told when its time has come, on the clockwork's thread.
class Ringing {
 public:
  virtual ~Ringing() = default;
  virtual void ring() = 0;
};

class Clockwork {
 public:
  Clockwork();
  ~Clockwork();

  // Ring at `at`, instead of when was asked before; kNever: not at all.
  void set(Ringing* who, double at);
  // Ring no more; returns when no ring is under way. Not to be called from one, nor under a lock that it takes.
  void forget(Ringing* who);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_, rung_;
  std::map<Ringing*, double> due_;
  Ringing* ringing_ = nullptr;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace tidewise::worker
