// What a worker process serves, as Python last said: what queries are checked against.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../station.hpp"

namespace tidewise::worker {

struct Spec {
  std::string name, datatype;
  Type type;
  Shape shape;  // of one row; -1 is an axis whose length a query may choose

  bool is_free() const;
  // Whether a tensor of this shape (rows first) fits.
  bool accepts(const Shape& given) const;
};

struct Known {
  std::string name;
  double slo;
  std::vector<Spec> inputs, outputs;
  std::vector<std::pair<std::string, std::string>> variants;  // name and version
};

// Never changed once it is in force.
struct Catalogue {
  std::map<std::string, Known, std::less<>> applications;

  const Known* find(std::string_view name) const {
    const auto found = applications.find(name);
    return found == applications.end() ? nullptr : &found->second;
  }
};

// A device and the name of its type.
struct Device {
  std::shared_ptr<Station> station;
  std::string type;
};
using Devices = std::map<std::string, Device, std::less<>>;

// The protocol's name of an element type.
const char* datatype_name(Type type);

}  // namespace tidewise::worker
