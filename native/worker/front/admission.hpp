// From a request to a place in a device's queue: worker/admission.py and worker/checks.py, for what is as it should be.
#pragma once

#include <optional>
#include <string>

#include "../caller.hpp"
#include "catalogue.hpp"
#include "request.hpp"

namespace tidewise::worker {

struct Admitted {
  const Device* device;
  const Known* application;
  double budget;  // seconds from now
};

// Fill in `caller`'s lane, rows, inputs (which point into the request's bytes) and outputs. `worker` is the device named,
// null if none is. None if anything is wrong: Python's front says what.
std::optional<Admitted> admit(const Devices& devices, const Catalogue& catalogue, const Request& request,
                              const std::string* worker, Caller& caller);

}  // namespace tidewise::worker
