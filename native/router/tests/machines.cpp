#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "../../clock.hpp"
#include "../cycle.hpp"
#include "../health.hpp"
#include "../loop.hpp"
#include "../output.hpp"
#include "check.hpp"

using namespace tidewise::router;

TEST(a_loss_takes_a_worker_out_and_a_probe_brings_it_back) {
  const Health lost = step({}, Event::lost, 10);
  CHECK(!lost.routed() && lost.probe_at == 10.05);
  CHECK(step(lost, Event::answered, 11).routed());
  const Health silent = step({}, Event::silent, 10);
  CHECK(silent.routed() && silent.probe_at == 10);
  CHECK(!step(silent, Event::unanswered, 11).routed());
}

TEST(sums_are_exact) {
  CHECK(exact_sum({}) == 0);
  CHECK(exact_sum(std::vector<double>(10, 0.1)) == 1.0);
  CHECK(exact_sum({1e100, 1, -1e100}) == 1);
}

TEST(a_cycle_holds_every_share) {
  const auto cycle = smooth_cycle({0.5, 0.25, 0.25});
  int counts[3] = {};
  for (const uint16_t index : cycle) ++counts[index];
  CHECK(cycle.size() == 1024 && counts[0] == 512 && counts[1] == 256 && counts[2] == 256);
}

TEST(output_keeps_its_order_when_the_socket_is_full) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  Output output;
  std::string sent, got;
  for (int count = 0; count < 3000; ++count) {
    const std::string small = std::to_string(count) + ",", large(1000, char('a' + count % 26));
    output.add(reinterpret_cast<const uint8_t*>(small.data()), small.size());
    output.add(copy_of(reinterpret_cast<const uint8_t*>(large.data()), large.size()));
    sent += small + large;
  }
  char buffer[70'000];
  while (got.size() < sent.size()) {
    CHECK(output.write_to(ends[0]) != Output::Result::broken);
    const ssize_t size = read(ends[1], buffer, sizeof buffer);
    if (size > 0) got.append(buffer, size_t(size));
  }
  CHECK(got == sent && output.size() == 0);
  close(ends[1]);
  output.add(reinterpret_cast<const uint8_t*>("x"), 1);
  CHECK(output.write_to(ends[0]) == Output::Result::broken);
  close(ends[0]);
}

TEST(a_timer_may_destroy_itself_and_is_called_once) {
  Loop loop;
  int calls = 0;
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(loop, [&] {
    ++calls;
    timer.reset();
  });
  timer->set(now());
  loop.round(0.01);
  loop.round(0);
  CHECK(calls == 1);
}
