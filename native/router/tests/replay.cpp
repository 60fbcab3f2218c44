// Choices as the C++ plane makes them, for comparison with Python's. Lines of text in, lines of text out:
//   batch SECONDS, lane SHARE CAPACITY FASTEST      (these come first)
//   cycle                             -> the cycle's indexes
//   begin LANE NOW | end LANE NOW ANSWERED
//   decide POLICY NOW BUDGET TURN     -> the lane's index, or the predicted finish after a minus sign
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "../choice.hpp"

using namespace tidewise::router;

namespace {

struct History {
  std::vector<std::unique_ptr<Route>> routes;
  std::vector<Lane> lanes;
  View view;
  double batch = 0;
  Generator generator{1};

  void lane() {
    auto route = std::make_unique<Route>();
    std::cin >> route->share >> route->capacity >> route->fastest;
    route->worker = std::to_string(lanes.size());
    lanes.push_back({route.get(), 0, 0, 0, 0, std::make_shared<Backlog>(), nullptr});
    routes.push_back(std::move(route));
    view = View(lanes, batch);
  }

  void decide_one() {
    std::string policy;
    double now, budget;
    uint64_t turn;
    std::cin >> policy >> now >> budget >> turn;
    const Decision found = decide(policy_named(policy), view, now, budget, turn, generator);
    if (found.lane != nullptr)
      std::printf("%s\n", found.lane->route->worker.c_str());
    else
      std::printf("-%.17g\n", found.predicted);
  }

  void settle(bool end) {
    size_t index;
    double now;
    int answered = 0;
    std::cin >> index >> now;
    if (end) std::cin >> answered;
    Backlog& backlog = *lanes[index].backlog;
    if (end)
      backlog.ended(now, answered != 0);
    else
      backlog.begun(now);
  }
};

}  // namespace

int replay() {
  History history;
  for (std::string word; std::cin >> word;) {
    if (word == "batch") std::cin >> history.batch;
    if (word == "lane") history.lane();
    if (word == "decide") history.decide_one();
    if (word == "begin" || word == "end") history.settle(word == "end");
    if (word == "cycle") {
      for (const uint16_t index : history.view.cycle()) std::printf("%d ", index);
      std::printf("\n");
    }
  }
  return 0;
}
