// What Python has still to hear from one station; an eventfd says that there is something.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "caller.hpp"

namespace tidewise::worker {

// Holds no more than there are queries under way, since each ends once.
class Outbox : public Sink {
 public:
  Outbox();
  ~Outbox() override;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  int fd() const { return fd_; }
  void deliver(std::vector<Delivery> deliveries) override;
  void released(const Model& model, std::uint64_t epoch);

  struct News {
    std::vector<Delivery> deliveries;
    std::vector<std::pair<Model, std::uint64_t>> released;
  };
  // All there is; the eventfd is quiet until there is more.
  News take();

 private:
  void ring(bool was_empty);

  int fd_;
  std::mutex mutex_;
  News news_;
};

}  // namespace tidewise::worker
