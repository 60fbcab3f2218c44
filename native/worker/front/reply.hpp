// An answer into a ModelInferResponse: worker/replies.py in C++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../router/slice.hpp"
#include "../caller.hpp"

namespace tidewise::worker {

// The gRPC message, prefix included. Large outputs are not copied: their slices keep the engine's memory.
std::vector<router::Slice> encode(std::string_view application, std::string_view id, const std::string& worker,
                                  const std::vector<std::string>& outputs, const Answer& answer);

}  // namespace tidewise::worker
