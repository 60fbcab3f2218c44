// Variant choice by name: worker/choice.py in C++.
#pragma once

#include <string>
#include <vector>

#include "queue.hpp"

namespace tidewise::worker {

// Which of the warm variants, from the ceiling down and never none, runs the lane's next batch.
using Choice = const ServablePtr& (*)(const Lane& lane, const std::vector<ServablePtr>& warm, double now);

// The choice of this name; null if it is not known here.
Choice choice_named(const std::string& name);

}  // namespace tidewise::worker
