#pragma once
#include <ctime>

namespace tidewise::router {

/// Seconds on a clock that never runs backwards.
inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

}  // namespace tidewise::router
