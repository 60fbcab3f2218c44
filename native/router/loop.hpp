#pragma once
#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tidewise::router {

class Loop;

/// Something with a file descriptor.
class Pollable {
 public:
  virtual ~Pollable() = default;
  /// The descriptor is ready; `events` are epoll's.
  virtual void ready(uint32_t events) = 0;
  /// Called once after a round of events in which `Loop::touch` was called for it: write what has gathered.
  virtual void flush() {}

 private:
  friend class Loop;
  bool touched_ = false;
};

/// Calls back once at a time that can be moved; never after its destruction.
class Timer {
 public:
  Timer(Loop& loop, std::function<void()> callback) : loop_(loop), callback_(std::move(callback)) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(double at);
  void cancel();
  bool armed() const { return armed_; }

 private:
  friend class Loop;
  Loop& loop_;
  std::function<void()> callback_;
  std::multimap<double, Timer*>::iterator place_;
  bool armed_ = false;
};

/// One thread's events. Objects are destroyed only between rounds, so that no event of a round finds its object gone.
class Loop {
 public:
  Loop();
  ~Loop();

  void watch(int fd, uint32_t events, Pollable* pollable);
  void change(int fd, uint32_t events, Pollable* pollable);
  void forget(int fd);

  /// Have `flush` called at the end of this round.
  void touch(Pollable* pollable);
  /// Own this object from now on.
  void adopt(std::unique_ptr<Pollable> pollable);
  /// Destroy an adopted object at the end of this round.
  void bury(Pollable* pollable);

  /// One round: wait for at most `limit` seconds, handle what is ready or due, write.
  void round(double limit);

 private:
  friend class Timer;
  void run_due(double at);
  void flush_all();
  int wait_ms(double limit) const;

  int epoll_;
  std::multimap<double, Timer*> timers_;
  std::vector<Pollable*> touched_;
  std::unordered_map<Pollable*, std::unique_ptr<Pollable>> adopted_;
  std::vector<std::unique_ptr<Pollable>> buried_;
};

}  // namespace tidewise::router
