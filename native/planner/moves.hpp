// Local search: applications pass devices round in short circles.
//
// Each application offers, for every two device types, its best change that gives up a device of the first and gets
// one of the second (or none). A move is a circle of one to three applications in which each passes a device on to
// the next; the pool of idle devices takes part as one that gives and takes for nothing. The best circle is applied
// until none gains.
#pragma once

#include <cstddef>
#include <vector>

#include "hosted.hpp"

namespace tidewise::planner {

class Moves {
 public:
  // `targets[a]` is the demand of application a that is promised; `counts` are by pair index of the problem.
  Moves(const Problem& problem, const std::vector<double>& targets, const Charges& charges,
        const std::vector<int>& counts);

  // Applies up to `most` moves, returns how many.
  int improve(int most);
  std::vector<int> counts() const;

 private:
  // A change of one participant along the arc from type `gives` to type `gets`.
  struct Arc {
    double gain;
    int who;  // application, or kPool
    Change change;
  };
  static constexpr int kPool = -1;
  static constexpr std::size_t kKept = 3;  // arcs kept per two types: enough for three different participants

  int none() const { return problem_.types(); }  // stands for "no device" among the types
  std::vector<Arc>& arcs(int gives, int gets) { return best_[gives * (problem_.types() + 1) + gets]; }

  void price_changes(int application);
  void collect_arcs();
  void offer(int gives, int gets, const Arc& arc);
  std::vector<Arc> best_circle();
  void best_of_two(double& gain, std::vector<Arc>& circle);
  void best_of_three(double& gain, std::vector<Arc>& circle);
  void apply(const std::vector<Arc>& circle);

  const Problem& problem_;
  std::vector<Hosted> hosted_;
  std::vector<int> idle_;
  std::vector<std::vector<Arc>> changes_;  // [application][gives * (types + 1) + gets]
  std::vector<std::vector<Arc>> best_;  // the same over all participants, best first
};

}  // namespace tidewise::planner
