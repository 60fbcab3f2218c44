// What a router is told: core/routes.py in C++.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tidewise::router {

struct Variant {
  std::string name;
  int64_t version;
  double worth;  // its accuracy over the best variant's, 0 if not measured
};

struct Route {
  std::string worker, address;
  std::vector<uint32_t> variants;  // indexes into the application's
  double share, capacity, fastest;
};

struct Application {
  std::string name;
  double slo;
  double batch;  // seconds a worker may take for one batch
  std::vector<Variant> variants;
  std::vector<Route> routes;
};

struct Snapshot {
  uint64_t revision = 0;
  uint64_t max_message = 64 << 20;
  std::string routing = "least-backlog";
  std::vector<double> bounds;  // of histograms of seconds
  std::vector<Application> applications;
};

}  // namespace tidewise::router
