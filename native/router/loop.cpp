#include "loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "../clock.hpp"

namespace tidewise::router {

namespace {
constexpr int kEvents = 256;
}

void Timer::set(double at) {
  cancel();
  place_ = loop_.timers_.emplace(at, this);
  armed_ = true;
}

void Timer::cancel() {
  if (armed_) loop_.timers_.erase(place_);
  armed_ = false;
}

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

Loop::~Loop() { close(epoll_); }

void Loop::watch(int fd, uint32_t events, Pollable* pollable) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = pollable;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

void Loop::change(int fd, uint32_t events, Pollable* pollable) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = pollable;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(int fd) { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

void Loop::touch(Pollable* pollable) {
  if (pollable->touched_) return;
  pollable->touched_ = true;
  touched_.push_back(pollable);
}

void Loop::adopt(std::unique_ptr<Pollable> pollable) {
  Pollable* key = pollable.get();
  adopted_.emplace(key, std::move(pollable));
}

void Loop::bury(Pollable* pollable) {
  const auto found = adopted_.find(pollable);
  if (found == adopted_.end()) return;
  buried_.push_back(std::move(found->second));
  adopted_.erase(found);
}

void Loop::round(double limit) {
  epoll_event events[kEvents];
  const int count = epoll_wait(epoll_, events, kEvents, wait_ms(limit));
  for (int index = 0; index < count; ++index)
    static_cast<Pollable*>(events[index].data.ptr)->ready(events[index].events);
  run_due(now());
  flush_all();
  buried_.clear();
}

int Loop::wait_ms(double limit) const {
  if (!touched_.empty()) return 0;
  if (!timers_.empty()) limit = std::min(limit, timers_.begin()->first - now());
  return limit <= 0 ? 0 : int(std::ceil(std::min(limit, 3600.0) * 1e3));
}

void Loop::run_due(double at) {
  while (!timers_.empty() && timers_.begin()->first <= at) {
    Timer* timer = timers_.begin()->second;
    timer->cancel();
    const auto callback = timer->callback_;  // a copy: it may destroy its timer
    callback();
  }
}

void Loop::flush_all() {
  // Writing on one connection may free another's window and so touch it; it is written in the same round.
  for (size_t index = 0; index < touched_.size(); ++index) {
    touched_[index]->touched_ = false;
    touched_[index]->flush();
  }
  touched_.clear();
}

}  // namespace tidewise::router
