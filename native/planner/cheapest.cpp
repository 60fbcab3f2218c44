#include "cheapest.hpp"

#include <numeric>

#include "search.hpp"

namespace tidewise::planner {

namespace {

constexpr double kNone = 1e290;
constexpr int kCoarse = 1024;
constexpr int kFine = 8192;
constexpr size_t kFirstPairs = 8;  // full devices are tried of this many pairs of least loss
constexpr int kFewerDevices = 3;  // and of up to this many devices fewer than fit

// Keeps the best column, and wants only better ones.
class KeepBest : public ColumnSink {
 public:
  double limit() const override { return best.loss - 1e-15; }
  void take(Column column) override {
    if (column.loss < best.loss) best = std::move(column);
  }
  bool found() const { return best.loss < kNone; }
  Column best{{}, {}, kNone};
};

// Columns of one or two pairs, as a first limit for the search.
class QuickColumns {
 public:
  QuickColumns(const Pricing& pricing, const std::vector<int>& devices) : pricing_(pricing), devices_(devices) {}

  void offer_to(KeepBest& sink) const {
    const double demand = pricing_.application().demand;
    for (int k = 0; k < static_cast<int>(pricing_.size()); ++k) offer_last(sink, {}, 0.0, demand, k);
    for (int first : least_loss_pairs()) {
      const double capacity = pricing_.pair(first).capacity;
      const int fit = static_cast<int>(std::floor(demand / capacity - kWhole));
      const int most = std::min(devices_[pricing_.pair(first).type], fit);
      for (int count = most; count > std::max(0, most - kFewerDevices - 1); --count) {
        offer_pairs_after(sink, {first, count}, demand - count * capacity);
      }
    }
  }

 private:
  std::vector<int> least_loss_pairs() const {
    std::vector<int> order(pricing_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return pricing_.full_loss(a) < pricing_.full_loss(b); });
    order.resize(std::min(order.size(), kFirstPairs));
    return order;
  }

  void offer_pairs_after(KeepBest& sink, Hosting first, double rest) const {
    const double loss = first.count * pricing_.full_loss(first.pair) + pricing_.swap_loss(first.pair, first.count);
    if (loss >= sink.best.loss) return;
    for (int k = first.pair + 1; k < static_cast<int>(pricing_.size()); ++k) offer_last(sink, {first}, loss, rest, k);
  }

  void offer_last(KeepBest& sink, std::vector<Hosting> before, double loss, double rest, int k) const {
    const int count = pricing_.last_count(k, rest);
    const double total = loss + pricing_.last_loss(k, rest, count);
    if (total > sink.limit()) return;
    std::vector<int> use(devices_.size(), 0);
    before.push_back({k, count});
    for (const Hosting& hosting : before) use[pricing_.pair(hosting.pair).type] += hosting.count;
    if (use[pricing_.pair(k).type] > devices_[pricing_.pair(k).type]) return;
    if (keeps_floor(before, rest)) sink.take({std::move(use), std::move(before), total});
  }

  // All hostings but the last are fully busy, the last serves `rest`.
  bool keeps_floor(const std::vector<Hosting>& hostings, double rest) const {
    const Application& application = pricing_.application();
    double worth = rest * pricing_.pair(hostings.back().pair).worth;
    for (size_t i = 0; i + 1 < hostings.size(); ++i) {
      const Pair& pair = pricing_.pair(hostings[i].pair);
      worth += hostings[i].count * pair.capacity * pair.worth;
    }
    return worth >= application.floor * application.demand * (1 - 1e-9);
  }

  const Pricing& pricing_;
  const std::vector<int>& devices_;
};

}  // namespace

Cheapest cheapest_column(const Pricing& pricing, const std::vector<int>& devices, const Packing& packing,
                         long most_nodes) {
  KeepBest sink;
  QuickColumns(pricing, devices).offer_to(sink);
  Search coarse(pricing, devices, packing, sink.best.loss, kCoarse);
  if (coarse.run(sink, most_nodes / 4)) return {sink.found(), sink.best, sink.best.loss};
  Search fine(pricing, devices, packing, sink.best.loss, kFine);
  if (fine.run(sink, most_nodes)) return {sink.found(), sink.best, sink.best.loss};
  return {sink.found(), sink.best, std::min(sink.best.loss, std::max(0.0, fine.least_loss()))};
}

}  // namespace tidewise::planner
