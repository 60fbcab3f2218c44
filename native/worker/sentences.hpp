// The sentences that tell a caller why a query ended without an answer: worker/sentences.py word for word.
#pragma once

#include <string>
#include <vector>

#include "../router/wording.hpp"
#include "query.hpp"

namespace tidewise::worker {

using router::quoted;

// [1, 2, 3]
std::string listed(const std::vector<std::int64_t>& numbers);

// What the sentences name of a device.
struct Speaker {
  std::string worker;
  std::size_t max_queue;
  std::string serving;             // the application in force
  std::vector<std::string> ready;  // its variants
};

std::string ended_text(const Speaker& speaker, const Query& query, Reason reason, double now);

}  // namespace tidewise::worker
