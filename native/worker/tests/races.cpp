// Stations under many threads at once: every query ends exactly once, and whoever is answered gets its own rows back.
// Meant for ThreadSanitizer.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>

#include "../../clock.hpp"
#include "../outbox.hpp"
#include "../station.hpp"

using namespace tidewise::worker;

namespace {

constexpr int kStations = 3, kSenders = 4;
constexpr float kPoison = -1;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::exit(1);
}

// Doubles every value, after a moment; a row that holds the poison fails the whole batch.
class Doubling : public Engine {
 public:
  std::vector<Tensor> run(const std::vector<tidewise::TensorView>& inputs, std::int64_t,
                          const std::vector<std::string>& outputs) override {
    const auto& input = inputs.front();
    const std::size_t count = input.bytes / sizeof(float);
    std::shared_ptr<char[]> memory(new char[input.bytes]);
    const auto* from = static_cast<const float*>(input.data);
    auto* to = reinterpret_cast<float*>(memory.get());
    for (std::size_t place = 0; place < count; ++place) {
      if (from[place] == kPoison) throw std::runtime_error("the model choked on a row");
      to[place] = 2 * from[place];
    }
    sleep_until(now() + 0.0002);
    return std::vector<Tensor>(outputs.size(), Tensor{memory, Type::kFloat32, input.shape, memory.get()});
  }
};

struct Sent : Caller {
  std::vector<float> values;
  std::atomic<int> ends{0};
  std::atomic<int>* open;
};

class Checking : public Sink {
 public:
  void deliver(std::vector<Delivery> deliveries) override {
    for (Delivery& one : deliveries) {
      auto& sent = static_cast<Sent&>(*one.caller);
      require(sent.ends++ == 0, "a query ends once");
      if (one.answered) check(sent, one.answer);
      one.answered ? ++answered : ++refused;
      --*sent.open;
    }
  }
  std::atomic<long> answered{0}, refused{0};

 private:
  static void check(const Sent& sent, const Answer& answer) {
    std::size_t place = 0;
    for (const Piece& piece : answer.pieces)
      for (std::size_t row = 0; row < std::size_t(piece[0].shape[0]); ++row, ++place)
        require(reinterpret_cast<const float*>(piece[0].data)[row] == 2 * sent.values[place], "rows are a query's own");
    require(place == sent.values.size(), "all rows are answered");
  }
};

ServablePtr servable(const std::string& variant, int version) {
  Servable one{{"echo", variant, ""}, version, {1, 2, 4}, {0, 1, 2, 4, 4}, {0, .0002, .0003, .0004, .0004}, {0, 1, 2, 3, 4}};
  return std::make_shared<Servable>(one);
}

void send(std::vector<std::unique_ptr<Station>>& stations, Sink& sink, std::atomic<std::uint64_t>& ids, unsigned seed,
          double end) {
  std::mt19937 chance(seed);
  std::atomic<int> open{0};
  std::vector<std::shared_ptr<Sent>> all;
  while (now() < end) {
    auto sent = std::make_shared<Sent>();
    sent->id = ++ids;
    sent->lane = {"echo", chance() % 8 ? "" : "small", {}};
    sent->rows = 1 + chance() % 6;
    for (int row = 0; row < sent->rows; ++row) sent->values.push_back(chance() % 100 ? float(chance() % 1000) : kPoison);
    sent->inputs.push_back({"x", Type::kFloat32, {sent->rows, 1}, reinterpret_cast<const char*>(sent->values.data())});
    sent->outputs = {"y"};
    sent->sink = &sink;
    sent->open = &open;
    sent->deadline = now() + double(chance() % 100) / 1e4;
    ++open;
    Station& station = *stations[chance() % stations.size()];
    station.submit(sent);
    if (chance() % 4 == 0) station.cancel(sent->id, Reason::cancelled);
    all.push_back(std::move(sent));
    if (open > 40) std::this_thread::yield();
  }
  while (open > 0) std::this_thread::yield();
  for (const auto& one : all) require(one->ends == 1, "every query ends");
}

}  // namespace

int main(int count, char** words) {
  const double end = now() + (count > 1 ? std::atof(words[1]) : 5);
  auto clockwork = std::make_shared<Clockwork>();
  Checking sink;
  Outbox outbox;
  std::vector<std::unique_ptr<Station>> stations;
  for (int place = 0; place < kStations; ++place) {
    const char* rules[] = {"eager", "deadline", "aimd"};
    stations.push_back(std::make_unique<Station>(
        "w" + std::to_string(place), Policy{rule_named(rules[place]), choice_named("anytime"), 32, 0, 0.001},
        std::vector<double>{.001, .01}, clockwork,
        [&outbox](const Model& model, std::uint64_t epoch) { outbox.released(model, epoch); }));
    for (const char* variant : {"large", "small"})
      stations.back()->install({"echo", variant, ""}, std::make_shared<Doubling>());
  }
  std::atomic<std::uint64_t> ids{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < kSenders; ++seed)
    threads.emplace_back([&, seed] { send(stations, sink, ids, seed, end); });
  threads.emplace_back([&] {  // Python's part: plans change, readings are taken
    for (int version = 1; now() < end; ++version) {
      for (auto& station : stations) {
        const bool both = version % 5;  // else the small one leaves, until the next plan wants it again
        Order order{version, "echo", {servable("large", 2)}, 0};
        if (both) order.warm.push_back(servable("small", 1));
        if (both) order.ceiling = version % 3 == 0;
        Hosted hosted{{order}, {}, "echo"};
        if (!both) hosted.leaving.push_back({"echo", "small", ""});
        station->hosted(hosted, {"large", "small"});
        station->reading();
        station->counters();
      }
      outbox.take();
      sleep_until(now() + 0.001);
    }
  });
  for (auto& thread : threads) thread.join();
  for (auto& station : stations) station->close();
  std::printf("%ld answered, %ld not\n", sink.answered.load(), sink.refused.load());
  require(sink.answered > 0 && sink.refused > 0, "both kinds of end were seen");
}
