#pragma once

#include <cerrno>
#include <chrono>
#include <ctime>

namespace tidewise {

/// Seconds on a clock that never runs backwards: the one of Python's time.monotonic and of its event loops.
inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// The same instant for the waits of the standard library.
inline std::chrono::steady_clock::time_point time_point(double at) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(at)));
}

inline void sleep_until(double at) {
  timespec time{};
  time.tv_sec = std::time_t(at);
  time.tv_nsec = long((at - double(time.tv_sec)) * 1e9);
  while (at > now() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace tidewise
