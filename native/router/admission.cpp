#include "admission.hpp"

#include "wording.hpp"

namespace tidewise::router {

namespace {

constexpr size_t kShown = 80;  // characters of a caller's text that a message repeats

void join(std::string& text, const std::string& more) {
  if (!text.empty()) text += ", ";
  text += more;
}

std::string ready(const Entry& entry) {
  std::string names;
  for (size_t index = 0; index < entry.pinned.size(); ++index)
    if (!entry.pinned[index].lanes().empty()) join(names, entry.application->variants[index].name);
  return names.empty() ? "none" : names;
}

}  // namespace

Failure unknown_application(const Table& table, const std::string& name) {
  std::string known;
  for (const auto& row : table) join(known, row.first);
  if (known.empty()) known = "none";
  return failure(Reason::unknown_application, "there is no application " + quoted(shown(name, kShown)) +
                                                  "; known: " + std::string(shown(known, 4 * kShown)));
}

const View* find_view(const Entry& entry, const std::string& version) {
  if (version.empty()) return &entry.everywhere;
  const auto found = entry.names.find(version);
  return found == entry.names.end() ? nullptr : &entry.pinned[found->second];
}

Failure unknown_variant(const Entry& entry, const std::string& version) {
  std::string known;
  for (const Variant& one : entry.application->variants)
    join(known, std::to_string(one.version) + " (" + one.name + ")");
  return failure(Reason::unknown_variant, "application " + quoted(entry.application->name) + " has no variant " +
                                              quoted(shown(version, kShown)) + "; known: " + known);
}

Failure too_large(size_t size, size_t limit) {
  return failure(Reason::too_large,
                 "the query has " + std::to_string(size) + " bytes; the limit is " + std::to_string(limit) + " bytes");
}

Failure explain(const Decision& decision, const Entry& entry, const Head& head, double left) {
  const std::string name = quoted(entry.application->name);
  if (decision.reason == Reason::predicted_late)
    return failure(decision.reason, "application " + name + " is too busy: an answer is predicted in " +
                                        tenths(decision.predicted * 1e3) + " ms at the earliest, the query has " +
                                        tenths(left * 1e3) + " ms left");
  if (head.version.empty()) return failure(decision.reason, "no worker serves application " + name + " now");
  return failure(decision.reason, "no worker has variant " + quoted(shown(head.version, kShown)) + " of application " +
                                      name + " ready now; ready: " + ready(entry));
}

}  // namespace tidewise::router
