// A variant as its device can run it: worker/servable.py says the same in Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace tidewise::worker {

// One model file under the name it serves; a changed file is another model.
struct Model {
  std::string application, variant, digest;

  auto key() const { return std::tie(application, variant, digest); }
  bool operator==(const Model& other) const { return key() == other.key(); }
  bool operator<(const Model& other) const { return key() < other.key(); }
};

// Allowed batch sizes, ascending, and tables over rows from 0 to the largest: the size so many rows run at, the seconds
// that takes, and how many of so many waiting rows make the batch with the most rows per second.
struct Servable {
  Model model;
  int version = 1;
  std::vector<int> sizes, padded;
  std::vector<double> latency;
  std::vector<int> brisk;

  int cap() const { return sizes.back(); }
  double rate() const { return cap() / latency.back(); }

  // Seconds for any number of rows, run as largest batches and a rest.
  double span(std::int64_t rows) const {
    const auto largest = std::int64_t(latency.size()) - 1;
    return double(rows / largest) * latency.back() + latency[std::size_t(rows % largest)];
  }
};
using ServablePtr = std::shared_ptr<const Servable>;

// One device's part of a plan as far as it is in force: warm variants, the most accurate first, and the place of the ceiling.
struct Order {
  int version = 0;
  std::string application;
  std::vector<ServablePtr> warm;
  std::size_t ceiling = 0;

  std::vector<ServablePtr> choices() const {
    return {warm.begin() + std::ptrdiff_t(std::min(ceiling, warm.size())), warm.end()};
  }
};

}  // namespace tidewise::worker
