#include "runner.hpp"

#include <exception>

namespace tidewise::worker {
namespace {

std::vector<PartDone> run_together(Engine& engine, const Work& work, Scratch& scratch) {
  const auto inputs = assemble(work.parts, work.size, scratch);
  const std::int64_t rows = inputs.empty() ? work.size : inputs.front().shape.front();
  std::vector<PartDone> done;
  for (Piece& piece : split(work.outputs, engine.run(inputs, rows, work.outputs), work.parts))
    done.push_back({std::move(piece), {}});
  return done;
}

}  // namespace

std::vector<PartDone> run(Engine& engine, const Work& work, Scratch& scratch) {
  try {
    return run_together(engine, work, scratch);
  } catch (const std::exception& error) {  // whatever an engine throws ends a query, never the device
    if (work.parts.size() == 1) return {{{}, error.what()}};
  }
  std::vector<PartDone> done;
  for (const Rows& part : work.parts) done.push_back(run(engine, Work{{part}, work.size, work.outputs}, scratch).front());
  return done;
}

}  // namespace tidewise::worker
