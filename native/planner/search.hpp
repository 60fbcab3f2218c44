// Depth-first search over the columns of one application, in the order of its pairs.
//
// A node has chosen full devices of pairs before i, has `rest` demand left and `loss` so far. Two cuts: the bound
// table, and dominance (same devices used at the same pair, yet more demand served at no more loss).
#pragma once

#include <unordered_map>
#include <vector>

#include "bound_table.hpp"
#include "packing.hpp"
#include "pricing.hpp"

namespace tidewise::planner {

// Takes the columns a search finds, and says up to which loss it wants them.
class ColumnSink {
 public:
  virtual ~ColumnSink() = default;
  virtual double limit() const = 0;
  virtual void take(Column column) = 0;
};

class Search {
 public:
  Search(const Pricing& pricing, const std::vector<int>& devices, const Packing& packing, double limit, int buckets);

  // Finds every column within the sink's limit, unless it runs out of nodes: then false.
  bool run(ColumnSink& sink, long most_nodes);
  long nodes() const { return nodes_; }

  // A lower bound on the loss of every column that needs no pair beyond the limit of the constructor.
  double least_loss() const { return pairs_.empty() ? 1e30 : bounds_.at(0, pricing_.application().demand); }

 private:
  struct Served {
    double rest;
    double loss;
  };

  void visit(size_t i, double rest, double loss);
  void try_last(size_t i, double rest, double loss);
  void try_leaving(double rest, double loss);
  bool dominated(size_t i, double rest, double loss);
  bool keeps_floor(size_t i, double last) const;
  void host(size_t i, int count);
  Column column(double loss) const;

  const Pricing& pricing_;
  const std::vector<int>& devices_;
  const Packing& packing_;
  std::vector<int> pairs_;  // worth considering within the limit
  BoundTable bounds_;
  ColumnSink* sink_ = nullptr;
  long nodes_ = 0;
  long most_nodes_ = 0;
  bool spent_ = false;
  std::vector<int> counts_;  // by position in pairs_
  std::vector<int> use_;
  Packed packed_ = 0;
  std::vector<std::unordered_map<Packed, std::vector<Served>, PackedHash>> seen_;
};

}  // namespace tidewise::planner
