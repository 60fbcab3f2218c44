#include "outbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <system_error>

namespace tidewise::worker {

Outbox::Outbox() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Outbox::~Outbox() { close(fd_); }

void Outbox::deliver(std::vector<Delivery> deliveries) {
  bool was_empty;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    was_empty = news_.deliveries.empty() && news_.released.empty();
    std::move(deliveries.begin(), deliveries.end(), std::back_inserter(news_.deliveries));
  }
  ring(was_empty);
}

void Outbox::released(const Model& model, std::uint64_t epoch) {
  bool was_empty;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    was_empty = news_.deliveries.empty() && news_.released.empty();
    news_.released.emplace_back(model, epoch);
  }
  ring(was_empty);
}

Outbox::News Outbox::take() {
  std::uint64_t count;
  [[maybe_unused]] const auto read_bytes = read(fd_, &count, sizeof count);
  std::lock_guard<std::mutex> guard(mutex_);
  return std::exchange(news_, {});
}

void Outbox::ring(bool was_empty) {
  if (!was_empty) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(fd_, &one, sizeof one);
}

}  // namespace tidewise::worker
