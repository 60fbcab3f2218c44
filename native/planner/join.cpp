#include "join.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tidewise::planner {

namespace {

struct State {
  Packed use;
  double loss;
  double paid;  // price of the devices used
  int previous;
  int column;
};

// A column as the join sees it.
struct Option {
  Packed use;
  double loss;
  double paid;
  int column;
};

// The states after some applications: the best one for each vector of devices, found again by open addressing.
class Layer {
 public:
  explicit Layer(size_t slots = 1 << 12) : table_(slots, -1) {}

  std::vector<State> states;

  void offer(const State& state) {
    size_t slot = find(state.use);
    if (table_[slot] >= 0) {
      State& known = states[table_[slot]];
      if (state.loss < known.loss) known = state;
      return;
    }
    table_[slot] = static_cast<int>(states.size());
    states.push_back(state);
    if (states.size() * 2 > table_.size()) index(table_.size() * 4);
  }

  void index(size_t slots) {
    table_.assign(slots, -1);
    for (size_t i = 0; i < states.size(); ++i) table_[find(states[i].use)] = static_cast<int>(i);
  }

  void reindex() { index(table_.size()); }

 private:
  size_t find(Packed use) const {
    size_t slot = PackedHash()(use) & (table_.size() - 1);
    while (table_[slot] >= 0 && states[table_[slot]].use != use) slot = (slot + 1) & (table_.size() - 1);
    return slot;
  }

  std::vector<int> table_;
};

class Join {
 public:
  Join(const std::vector<std::vector<Column>>& columns, const std::vector<int>& devices,
       const std::vector<double>& prices, const Packing& packing, double limit, size_t beam)
      : columns_(columns), packing_(packing), limit_(limit), beam_(beam) {
    for (size_t t = 0; t < devices.size(); ++t) all_paid_ += prices[t] * devices[t];
    order_.resize(columns.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return columns[a].size() < columns[b].size(); });
    for (int a : order_) options_.push_back(options(columns[a], prices));
    look_ahead(static_cast<int>(devices.size()));
  }

  Joined run() {
    Joined joined;
    layers_.push_back({{packing_.start(), 0.0, 0.0, -1, -1}});
    for (size_t i = 0; i + 1 < order_.size(); ++i) {
      extend(i, joined);
      if (layers_.back().empty()) return joined;
    }
    finish(joined);
    return joined;
  }

 private:
  std::vector<Option> options(const std::vector<Column>& columns, const std::vector<double>& prices) const {
    std::vector<Option> options;
    for (size_t c = 0; c < columns.size(); ++c) {
      double paid = 0;
      for (size_t t = 0; t < prices.size(); ++t) paid += prices[t] * columns[c].use[t];
      options.push_back({packing_.pack(columns[c].use), columns[c].loss, paid, static_cast<int>(c)});
    }
    return options;
  }

  // What the applications still to come need at least and pay at most.
  void look_ahead(int types) {
    needs_.assign(order_.size() + 1, 0);
    pays_.assign(order_.size() + 1, 0.0);
    for (size_t i = order_.size(); i-- > 0;) {
      std::vector<int> least(types, 1 << 30);
      double most_paid = 0;
      for (const Option& option : options_[i]) {
        const Column& column = columns_[order_[i]][option.column];
        for (int t = 0; t < types; ++t) least[t] = std::min(least[t], column.use[t]);
        most_paid = std::max(most_paid, option.paid);
      }
      needs_[i] = needs_[i + 1] + packing_.pack(least);
      pays_[i] = pays_[i + 1] + most_paid;
    }
  }

  // Least loss a state can end with: devices that even the priciest columns to come leave idle are lost.
  double promise(const State& state, size_t done) const {
    return state.loss + std::max(0.0, all_paid_ - state.paid - pays_[done]);
  }

  void extend(size_t i, Joined& joined) {
    Layer layer;
    double limit = limit_;
    for (size_t from = 0; from < layers_[i].size(); ++from) {
      const State& state = layers_[i][from];
      for (const Option& option : options_[i]) {
        if (state.loss + option.loss > limit) break;
        const State next{state.use + option.use, state.loss + option.loss, state.paid + option.paid,
                         static_cast<int>(from), option.column};
        if (packing_.overflows(next.use + needs_[i + 1]) || promise(next, i + 1) > limit) continue;
        layer.offer(next);
        if (layer.states.size() > 3 * beam_) {
          limit = std::min(limit, trim(layer.states, i + 1, joined));
          layer.reindex();
        }
      }
    }
    if (layer.states.size() > beam_) trim(layer.states, i + 1, joined);
    std::sort(layer.states.begin(), layer.states.end(),
              [](const State& a, const State& b) { return a.loss != b.loss ? a.loss < b.loss : a.use < b.use; });
    joined.states += static_cast<long>(layer.states.size());
    layers_.push_back(std::move(layer.states));
  }

  // Keep the `beam` most promising states; the promise of the best one left out.
  double trim(std::vector<State>& states, size_t done, Joined& joined) const {
    const auto before = [&](const State& a, const State& b) {
      const double pa = promise(a, done), pb = promise(b, done);
      return pa != pb ? pa < pb : a.use < b.use;
    };
    std::nth_element(states.begin(), states.begin() + beam_, states.end(), before);
    const double left_out = promise(states[beam_], done);
    joined.dropped = std::min(joined.dropped, left_out);
    states.resize(beam_);
    return left_out;
  }

  // The last application needs no states, only the best pair of state and column.
  void finish(Joined& joined) {
    const size_t last = order_.size() - 1;
    double limit = limit_;
    int state_at = -1, column = -1;
    for (size_t from = 0; from < layers_[last].size(); ++from) {
      const State& state = layers_[last][from];
      if (state.loss > limit) break;
      for (const Option& option : options_[last]) {
        if (state.loss + option.loss > limit) break;
        if (packing_.overflows(state.use + option.use)) continue;
        const double total = state.loss + option.loss + all_paid_ - state.paid - option.paid;
        if (total > limit || (state_at >= 0 && total >= joined.loss)) continue;
        joined.loss = limit = total;
        state_at = static_cast<int>(from);
        column = option.column;
      }
    }
    if (state_at >= 0) trace_back(joined, state_at, column);
  }

  void trace_back(Joined& joined, int state, int column) const {
    joined.found = true;
    joined.chosen.assign(order_.size(), -1);
    for (size_t i = order_.size(); i-- > 0;) {
      joined.chosen[order_[i]] = column;
      column = layers_[i][state].column;
      state = layers_[i][state].previous;
    }
  }

  const std::vector<std::vector<Column>>& columns_;
  const Packing& packing_;
  double limit_;
  size_t beam_;
  double all_paid_ = 0;
  std::vector<int> order_;  // applications, fewest columns first
  std::vector<std::vector<Option>> options_;  // by position in order_
  std::vector<Packed> needs_;
  std::vector<double> pays_;
  std::vector<std::vector<State>> layers_;
};

}  // namespace

Joined join_columns(const std::vector<std::vector<Column>>& columns, const std::vector<int>& devices,
                    const std::vector<double>& prices, const Packing& packing, double limit, size_t beam) {
  for (const auto& some : columns) {
    if (some.empty() || !packing.fits()) return {};
  }
  if (columns.empty()) return {true, 0.0, {}, 1e300, 0};
  return Join(columns, devices, prices, packing, limit, beam).run();
}

}  // namespace tidewise::planner
