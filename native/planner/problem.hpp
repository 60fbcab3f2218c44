// The nouns of the planner's core: what is planned, in the units of the objective.
//
// Plain data without Python. One application's demand is served by (device type, variant) pairs; nothing couples the
// applications but the number of devices of each type.
#pragma once

#include <vector>

namespace tidewise::planner {

// One device of `type` hosting a variant: serves `capacity` queries per second, each worth `worth` to the objective.
struct Pair {
  int type;
  int index;  // of the pair in the whole problem
  int current;  // devices that host it now
  double capacity;
  double worth;
};

// Pairs are sorted from the most to the least worth. `floor` is the least mean worth of served queries. Of the demand
// at least `least` has to be served; it is all of it unless the cluster is overloaded.
struct Application {
  double demand;
  double least;
  double floor;
  int replicas;
  std::vector<Pair> pairs;
};

struct Problem {
  std::vector<int> devices;  // of each type
  std::vector<Application> applications;
  double swap_cost;  // objective given up per load
  int pair_count;

  int types() const { return static_cast<int>(devices.size()); }
};

// `count` devices host pair number `pair` of an application.
struct Hosting {
  int pair;
  int count;
};

// One way to serve all demand of an application: which devices it uses and how far it is from the best conceivable.
struct Column {
  std::vector<int> use;  // devices of each type
  std::vector<Hosting> hostings;
  double loss;
};

}  // namespace tidewise::planner
