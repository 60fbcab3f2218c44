// What the queries of one front share; all of it belongs to the front's thread, but for the tally.
#pragma once

#include <memory>

#include "../../router/link.hpp"
#include "catalogue.hpp"
#include "tally.hpp"

namespace tidewise::worker {

constexpr std::size_t kHeldMessages = 16;  // times the limit of one message: bytes of messages that are not yet whole

struct Desk {
  Devices devices;
  std::shared_ptr<const Catalogue> catalogue = std::make_shared<Catalogue>();
  std::size_t max_message;
  Sink* sink = nullptr;
  FrontTally* tally = nullptr;
  router::Link* python = nullptr;  // where whatever is not an ordinary query goes
  std::size_t calls = 0;           // under way
  std::size_t held = 0;            // bytes of messages that are not yet whole
  std::uint64_t queries = 0;       // begun so far
};

}  // namespace tidewise::worker
