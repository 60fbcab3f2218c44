// Running one batch: assembled, run, cut apart. worker/runner.py in C++.
#pragma once

#include <string>
#include <vector>

#include "engine.hpp"
#include "tensors.hpp"

namespace tidewise::worker {

// Each part's inputs, the padded size, the outputs that anybody wants.
struct Work {
  std::vector<Rows> parts;
  std::int64_t size;
  std::vector<std::string> outputs;
};

// One part's outputs, or the sentence that says why there are none.
struct PartDone {
  Piece piece;
  std::string failure;
};

// Run a batch. If it fails, its parts are run one by one, so that a bad one harms only itself.
std::vector<PartDone> run(Engine& engine, const Work& work, Scratch& scratch);

}  // namespace tidewise::worker
