#include "enumeration.hpp"

#include <utility>

#include "search.hpp"

namespace tidewise::planner {

namespace {

constexpr int kCoarse = 2048;
constexpr int kFine = 8192;
constexpr size_t kPareto = 1500;  // above this many columns the quadratic dominance test does not pay
constexpr double kTie = 1e-15;

bool less_loss(const Column& a, const Column& b) {
  return a.loss != b.loss ? a.loss < b.loss : a.use < b.use;
}

// Of columns with the same devices only the one of least loss is of use.
void drop_same_use(std::vector<Column>& columns) {
  std::sort(columns.begin(), columns.end(),
            [](const Column& a, const Column& b) { return a.use != b.use ? a.use < b.use : a.loss < b.loss; });
  const auto same = [](const Column& a, const Column& b) { return a.use == b.use; };
  columns.erase(std::unique(columns.begin(), columns.end(), same), columns.end());
}

// Keeps all columns within a limit that sinks when there are too many of them.
class KeepAll : public ColumnSink {
 public:
  KeepAll(double limit, size_t most) : limit_(limit), most_(most) {}

  double limit() const override { return limit_; }

  void take(Column column) override {
    columns.push_back(std::move(column));
    if (columns.size() > 4 * most_) squeeze(3 * most_, 2 * most_);
  }

  // Leave `target` columns where more than `bearable` differ; the limit sinks to the least loss left out.
  void squeeze(size_t bearable, size_t target) {
    drop_same_use(columns);
    if (columns.size() <= bearable) return;
    std::nth_element(columns.begin(), columns.begin() + target, columns.end(), less_loss);
    limit_ = std::min(limit_, columns[target].loss);
    columns.resize(target);
  }

  std::vector<Column> columns;

 private:
  double limit_;
  size_t most_;
};

// A column is dominated if another uses no device more and still earns as much: loss + price of the devices spared.
bool dominates(const Column& one, const Column& other, const Pricing& pricing) {
  double spared = 0;
  for (size_t t = 0; t < one.use.size(); ++t) {
    if (one.use[t] > other.use[t]) return false;
    spared += pricing.price(static_cast<int>(t)) * (other.use[t] - one.use[t]);
  }
  return one.loss + spared <= other.loss + kTie;
}

void drop_dominated(std::vector<Column>& columns, const Pricing& pricing) {
  if (columns.size() > kPareto) return;
  std::vector<Column> kept;
  for (Column& column : columns) {
    const auto beats = [&](const Column& one) { return dominates(one, column, pricing); };
    if (std::none_of(kept.begin(), kept.end(), beats)) kept.push_back(std::move(column));
  }
  columns = std::move(kept);
}

// Where one search for the whole excess runs out of nodes: threefold excesses, so that what is complete is known.
double deepen(const Pricing& pricing, const std::vector<int>& devices, const Packing& packing, double least_loss,
              double excess, size_t most_columns, long nodes, std::vector<Column>& columns) {
  double complete = -1;
  const long reserve = nodes / 20;
  for (double step = excess / 27; nodes > reserve; step *= 3) {
    const double limit = std::min(step, excess) + least_loss;
    KeepAll sink(limit, most_columns);
    Search search(pricing, devices, packing, limit, kFine);
    const bool finished = search.run(sink, nodes);
    nodes -= search.nodes();
    const bool squeezed = sink.limit() < limit;
    columns.insert(columns.end(), std::make_move_iterator(sink.columns.begin()),
                   std::make_move_iterator(sink.columns.end()));
    if (!finished) break;
    complete = sink.limit() - least_loss;
    if (squeezed || step >= excess) break;
  }
  return complete;
}

}  // namespace

Enumeration enumerate_columns(const Pricing& pricing, const std::vector<int>& devices, const Packing& packing,
                              double least_loss, double excess, size_t most_columns, long most_nodes) {
  KeepAll sink(least_loss + excess, most_columns);
  Search search(pricing, devices, packing, sink.limit(), kCoarse);
  double complete = excess;
  if (search.run(sink, most_nodes / 10)) {
    complete = sink.limit() - least_loss;
  } else {
    complete = deepen(pricing, devices, packing, least_loss, excess, most_columns, most_nodes, sink.columns);
  }
  KeepAll all(least_loss + complete, most_columns);
  all.columns = std::move(sink.columns);
  all.squeeze(most_columns, most_columns);
  if (complete >= 0) complete = std::min(complete, all.limit() - least_loss);
  std::sort(all.columns.begin(), all.columns.end(), less_loss);
  for (Column& column : all.columns) column.loss -= least_loss;
  drop_dominated(all.columns, pricing);
  return {std::move(all.columns), complete};
}

}  // namespace tidewise::planner
