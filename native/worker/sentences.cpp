#include "sentences.hpp"

#include <cstdio>

namespace tidewise::worker {
namespace {

std::string milliseconds(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  return text;
}

std::string not_here(const Speaker& speaker, const LaneKey& lane) {
  const std::string worker = "worker " + quoted(speaker.worker);
  if (speaker.serving != lane.application)
    return worker + " does not serve application " + quoted(lane.application) + " now";
  std::string ready;
  for (const std::string& one : speaker.ready) ready += (ready.empty() ? "" : ", ") + one;
  return worker + " has variant " + quoted(lane.pin) + " of " + quoted(lane.application) +
         " not ready now; ready: " + (ready.empty() ? "none" : ready);
}

}  // namespace

std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t one : numbers) text += (text.empty() ? "" : ", ") + std::to_string(one);
  return "[" + text + "]";
}

std::string ended_text(const Speaker& speaker, const Query& query, Reason reason, double now) {
  const std::string worker = "worker " + quoted(speaker.worker);
  const std::string budget = "the deadline of " + milliseconds(query.deadline - query.arrived);
  switch (reason) {
    case Reason::deadline: return budget + " passed in the queue of " + worker;
    case Reason::hopeless:
      return budget + " could no longer be met after " + milliseconds(now - query.arrived) + " in the queue of " +
             worker;
    case Reason::queue_full:
      return "the queue of " + worker + " holds its limit of " + std::to_string(speaker.max_queue) + " queries";
    case Reason::no_worker: return not_here(speaker, query.lane);
    case Reason::draining: return worker + " is shutting down";
    default: return worker + " ended the query: " + kReasons[int(reason)];
  }
}

}  // namespace tidewise::worker
