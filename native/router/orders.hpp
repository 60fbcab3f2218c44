// What the Python side and this one tell each other, as values.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "channel.hpp"
#include "losses.hpp"
#include "routes.hpp"
#include "tally.hpp"

namespace tidewise::router {

/// Null if the order is not a whole snapshot, or one that contradicts itself.
std::shared_ptr<const Snapshot> read_snapshot(Reader reader);

/// Write one label's counts.
void write_counts(Writer& writer, const Counts& counts);
void write_losses(Writer& writer, const Losses& losses);

}  // namespace tidewise::router
