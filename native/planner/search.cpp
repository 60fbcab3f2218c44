#include "search.hpp"

#include <utility>

namespace tidewise::planner {

namespace {

constexpr size_t kRemembered = 24;  // nodes kept per (pair, devices used) for the dominance test
constexpr double kTie = 1e-15;

std::vector<int> pairs_within(const Pricing& pricing, double limit) {
  std::vector<int> pairs;
  for (size_t k = 0; k < pricing.size(); ++k) {
    if (pricing.least_loss(k) <= limit + kTie) pairs.push_back(static_cast<int>(k));
  }
  return pairs;
}

}  // namespace

Search::Search(const Pricing& pricing, const std::vector<int>& devices, const Packing& packing, double limit,
               int buckets)
    : pricing_(pricing),
      devices_(devices),
      packing_(packing),
      pairs_(pairs_within(pricing, limit)),
      bounds_(pricing, pairs_, buckets),
      seen_(pairs_.size() + 1) {}

bool Search::run(ColumnSink& sink, long most_nodes) {
  sink_ = &sink;
  nodes_ = 0;
  most_nodes_ = most_nodes;
  spent_ = false;
  counts_.assign(pairs_.size(), 0);
  use_.assign(devices_.size(), 0);
  packed_ = 0;
  for (auto& seen : seen_) seen.clear();
  visit(0, pricing_.application().demand, 0.0);
  return !spent_;
}

void Search::visit(size_t i, double rest, double loss) {
  if (++nodes_ > most_nodes_) spent_ = true;
  if (spent_ || (i > 0 && dominated(i, rest, loss))) return;
  try_leaving(rest, loss);
  for (; i < pairs_.size() && loss + bounds_.at(i, rest) <= sink_->limit(); ++i) {
    try_last(i, rest, loss);
    const int k = pairs_[i];
    const Pair& pair = pricing_.pair(k);
    const int room = devices_[pair.type] - use_[pair.type];
    const int most = std::min(room, static_cast<int>(std::floor(rest / pair.capacity - kWhole)));
    for (int count = most; count >= 1; --count) {
      const double next_loss = loss + count * pricing_.full_loss(k) + pricing_.swap_loss(k, count);
      const double next_rest = rest - count * pair.capacity;
      if (next_loss + bounds_.at(i + 1, next_rest) > sink_->limit()) continue;
      host(i, count);
      visit(i + 1, next_rest, next_loss);
      host(i, -count);
      if (spent_) return;
    }
  }
}

// The column that serves all that is left with pair i.
void Search::try_last(size_t i, double rest, double loss) {
  const int k = pairs_[i];
  const int type = pricing_.pair(k).type;
  const int count = pricing_.last_count(k, rest);
  if (count > devices_[type] - use_[type]) return;
  const double total = loss + pricing_.last_loss(k, rest, count);
  if (total > sink_->limit() || !keeps_floor(i, rest)) return;
  host(i, count);
  sink_->take(column(total));
  host(i, -count);
}

// The column that leaves out what is left.
void Search::try_leaving(double rest, double loss) {
  if (rest > pricing_.optional()) return;
  const double total = loss + pricing_.lambda() * rest;
  if (total <= sink_->limit()) sink_->take(column(total));
}

// Whether the mean worth of served queries is at its floor or above when pair i serves what is left.
bool Search::keeps_floor(size_t i, double last) const {
  const double floor = pricing_.application().floor;
  if (floor <= 0) return true;
  double worth = last * pricing_.pair(pairs_[i]).worth;
  for (size_t j = 0; j < i; ++j) {
    const Pair& pair = pricing_.pair(pairs_[j]);
    worth += counts_[j] * pair.capacity * pair.worth;
  }
  return worth >= floor * pricing_.application().demand * (1 - 1e-9);
}

// A node at the same pair with the same devices that has `less` rest can give its extra service back at worth_i at
// most, so it dominates if its loss plus that is no greater.
bool Search::dominated(size_t i, double rest, double loss) {
  if (!packing_.fits() || i >= pairs_.size()) return false;
  if (pricing_.application().floor > 0 && pricing_.charges_swaps()) return false;  // less loss may mean less accuracy
  const double give_back = std::max(0.0, pricing_.pair(pairs_[i]).worth - pricing_.lambda());
  std::vector<Served>& known = seen_[i][packed_];
  for (const Served& other : known) {
    if (other.rest <= rest && other.loss + give_back * (rest - other.rest) <= loss + kTie) return true;
  }
  if (known.size() < kRemembered) {
    known.push_back({rest, loss});
  } else {
    known[nodes_ % kRemembered] = {rest, loss};
  }
  return false;
}

void Search::host(size_t i, int count) {
  const int type = pricing_.pair(pairs_[i]).type;
  counts_[i] += count;
  use_[type] += count;
  if (packing_.fits()) packed_ += packing_.one(type, 1) * static_cast<Packed>(static_cast<__int128>(count));
}

Column Search::column(double loss) const {
  Column column{use_, {}, loss};
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) column.hostings.push_back({pairs_[i], counts_[i]});
  }
  return column;
}

}  // namespace tidewise::planner
