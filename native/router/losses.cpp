#include "losses.hpp"

#include "wording.hpp"

namespace tidewise::router {

namespace {
constexpr size_t kTold = 20;             // of one reading, as dashboard/quota.py lets through in a second
constexpr size_t kShown = 128, kSentence = 400;  // characters, as dashboard/loss_log.py repeats

void cut(std::string& text, size_t size) { text.resize(shown(text, size).size()); }
}  // namespace

bool Losses::wants(const std::string& label, Reason reason) {
  const Key key{label, reason};
  if (seen_[key]++ == 0 || told_.size() < kTold) return true;  // the first of each kind in any case
  ++untold_[key];
  return false;
}

void Losses::tell(Loss loss) {
  for (std::string* text : {&loss.application, &loss.request_id, &loss.query_id, &loss.traceparent}) cut(*text, kShown);
  cut(loss.sentence, kSentence);
  told_.push_back(std::move(loss));
}

void Losses::clear() {
  told_.clear();
  seen_.clear();
  untold_.clear();
}

}  // namespace tidewise::router
