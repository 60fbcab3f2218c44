// A ModelInferRequest as nearly every caller sends it: raw tensors, no extras.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "../query.hpp"

namespace tidewise::worker {

struct Request {
  struct Tensor {
    std::string_view name, datatype;
    Shape shape;
  };
  std::string_view name, version, id;
  std::optional<double> budget;  // its own deadline_ms, in seconds
  std::vector<Tensor> inputs;
  std::vector<std::string_view> outputs, raw;
};

// Views into `bytes`. None if anything about the message is unusual or wrong: Python's front knows what to say to it.
std::optional<Request> read_request(std::string_view bytes);

}  // namespace tidewise::worker
