#pragma once
#include <functional>

#include "loop.hpp"

namespace tidewise::router {

/// Takes connections from a socket that listens already; a restarted process goes on with the same one.
class Listener : public Pollable {
 public:
  Listener(Loop& loop, int fd, std::function<void(int)> accepted);
  ~Listener() override { stop(); }
  void ready(uint32_t events) override;
  void stop();

 private:
  void rest();

  Loop& loop_;
  int fd_;
  std::function<void(int)> accepted_;
  Timer resting_;
};

}  // namespace tidewise::router
