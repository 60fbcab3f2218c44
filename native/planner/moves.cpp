#include "moves.hpp"

#include <algorithm>

namespace tidewise::planner {

namespace {
constexpr double kWorse = -1e300;
constexpr double kLeastGain = 1e-12;
}  // namespace

Moves::Moves(const Problem& problem, const std::vector<double>& targets, const Charges& charges,
             const std::vector<int>& counts)
    : problem_(problem), idle_(problem.devices), changes_(problem.applications.size()) {
  for (size_t a = 0; a < problem.applications.size(); ++a) {
    const Application& application = problem.applications[a];
    hosted_.emplace_back(application, targets[a], problem.swap_cost, charges);
    for (size_t k = 0; k < application.pairs.size(); ++k) {
      const int count = counts[application.pairs[k].index];
      if (count > 0) hosted_[a].add(static_cast<int>(k), count);
      idle_[application.pairs[k].type] -= count;
    }
    price_changes(static_cast<int>(a));
  }
}

int Moves::improve(int most) {
  int made = 0;
  for (; made < most; ++made) {
    collect_arcs();
    const std::vector<Arc> circle = best_circle();
    if (circle.empty()) break;
    apply(circle);
  }
  return made;
}

std::vector<int> Moves::counts() const {
  std::vector<int> counts(problem_.pair_count, 0);
  for (const Hosted& hosted : hosted_) {
    for (int k : hosted.hosted()) counts[hosted.application().pairs[k].index] = hosted.count(k);
  }
  return counts;
}

// The best change of one application for every two types it can give and get.
void Moves::price_changes(int application) {
  const Hosted& hosted = hosted_[application];
  const std::vector<Pair>& pairs = hosted.application().pairs;
  const int width = problem_.types() + 1;
  std::vector<Arc>& changes = changes_[application];
  changes.assign(width * width, {kWorse, application, {}});
  const double now = hosted.value();
  const auto consider = [&](int gives, int gets, Change change) {
    Arc& best = changes[gives * width + gets];
    const double gain = hosted.value(change) - now;
    if (gain > best.gain) best = {gain, application, change};
  };
  for (int to = 0; to < static_cast<int>(pairs.size()); ++to) consider(none(), pairs[to].type, {-1, to});
  for (int from : hosted.hosted()) {
    consider(pairs[from].type, none(), {from, -1});
    for (int to = 0; to < static_cast<int>(pairs.size()); ++to) {
      if (to != from) consider(pairs[from].type, pairs[to].type, {from, to});
    }
  }
}

void Moves::collect_arcs() {
  const int width = problem_.types() + 1;
  best_.assign(width * width, {});
  for (int gives = 0; gives < width; ++gives) {
    for (int gets = 0; gets < width; ++gets) {
      const bool pool_can = gives == none() || idle_[gives] > 0;
      if (pool_can && gives != gets) offer(gives, gets, {0.0, kPool, {}});
      for (const auto& changes : changes_) offer(gives, gets, changes[gives * width + gets]);
    }
  }
}

void Moves::offer(int gives, int gets, const Arc& arc) {
  if (arc.gain == kWorse) return;
  std::vector<Arc>& kept = arcs(gives, gets);
  const auto at = std::upper_bound(kept.begin(), kept.end(), arc,
                                   [](const Arc& a, const Arc& b) { return a.gain > b.gain; });
  if (static_cast<size_t>(at - kept.begin()) >= kKept) return;
  kept.insert(at, arc);
  if (kept.size() > kKept) kept.pop_back();
}

std::vector<Moves::Arc> Moves::best_circle() {
  double gain = kLeastGain;
  std::vector<Arc> circle;
  for (int type = 0; type < problem_.types(); ++type) {
    const std::vector<Arc>& alone = arcs(type, type);
    if (!alone.empty() && alone[0].gain > gain) {
      gain = alone[0].gain;
      circle = {alone[0]};
    }
  }
  best_of_two(gain, circle);
  if (circle.empty()) best_of_three(gain, circle);
  return circle;
}

void Moves::best_of_two(double& gain, std::vector<Arc>& circle) {
  for (int one = 0; one <= none(); ++one) {
    for (int two = one + 1; two <= none(); ++two) {
      for (const Arc& there : arcs(one, two)) {
        for (const Arc& back : arcs(two, one)) {
          if (there.who == back.who || there.gain + back.gain <= gain) continue;
          gain = there.gain + back.gain;
          circle = {there, back};
        }
      }
    }
  }
}

// Looked for only when no smaller circle gains.
void Moves::best_of_three(double& gain, std::vector<Arc>& circle) {
  const auto try_circle = [&](const Arc& a, const Arc& b, const Arc& c) {
    const double sum = a.gain + b.gain + c.gain;
    if (sum <= gain || a.who == b.who || b.who == c.who || a.who == c.who) return;
    gain = sum;
    circle = {a, b, c};
  };
  const auto best = [&](int gives, int gets) { return arcs(gives, gets).empty() ? kWorse : arcs(gives, gets)[0].gain; };
  for (int one = 0; one <= none(); ++one) {
    for (int two = one + 1; two <= none(); ++two) {
      for (int three = one + 1; three <= none(); ++three) {
        if (three == two || best(one, two) + best(two, three) + best(three, one) <= gain) continue;
        for (const Arc& a : arcs(one, two)) {
          for (const Arc& b : arcs(two, three)) {
            for (const Arc& c : arcs(three, one)) try_circle(a, b, c);
          }
        }
      }
    }
  }
}

void Moves::apply(const std::vector<Arc>& circle) {
  for (const Arc& arc : circle) {
    if (arc.who == kPool) continue;
    const std::vector<Pair>& pairs = hosted_[arc.who].application().pairs;
    if (arc.change.from >= 0) ++idle_[pairs[arc.change.from].type];
    if (arc.change.to >= 0) --idle_[pairs[arc.change.to].type];
    hosted_[arc.who].apply(arc.change);
    price_changes(arc.who);
  }
}

}  // namespace tidewise::planner
