#include "head.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "wire.hpp"
#include "wording.hpp"

namespace tidewise::router {

namespace {

constexpr uint64_t kName = 1, kVersion = 2, kId = 3, kParameters = 4;
constexpr int kMaxFields = 4096;  // top-level fields of a large message; more is an attack on the reader's time
constexpr char kNotOne[] = "the message is not a ModelInferRequest: ";
constexpr char kUnparsed[] = "Error parsing message with type 'inference.ModelInferRequest'";
constexpr char kDeadlineKind[] =
    "parameter deadline_ms must be a finite number of milliseconds (int64, uint64 or double)";

/// The fields of a head, as they stand in the message; the last of each kind counts.
struct Fields {
  std::string_view name, version, id;
  bool named = false;
};

/// The choice inside an InferParameter: its field number (0: none), and its value.
struct Choice {
  uint64_t kind = 0;
  uint64_t value = 0;

  double number() const {
    if (kind == 2) return double(int64_t(value));
    if (kind == 5) return double(value);
    double real;
    std::memcpy(&real, &value, sizeof real);
    return kind == 4 ? real : std::nan("");
  }
};

bool read_choice(std::string_view bytes, Choice& choice) {
  for (WireReader reader(bytes); !reader.at_end();) {
    Field field;
    if (reader.next(field) != WireError::none || field.number == 0) return false;
    const unsigned expected = field.number == 3 ? 2 : field.number == 4 ? 1 : 0;
    if (field.number <= 5 && field.type == expected) choice = {field.number, field.value};
    if (field.number == 3 && field.type == 2 && !is_utf8(field.bytes)) return false;
  }
  return true;
}

/// One entry of the parameter map.
bool read_parameter(std::string_view bytes, std::string_view& key, Choice& choice) {
  for (WireReader reader(bytes); !reader.at_end();) {
    Field field;
    if (reader.next(field) != WireError::none || field.number == 0) return false;
    if (field.number == 1 && field.type == 2) key = field.bytes;
    if (field.number == 2 && field.type == 2 && !read_choice(field.bytes, choice)) return false;
  }
  return is_utf8(key);
}

const char* words(WireError error) {
  switch (error) {
    case WireError::beyond: return "it ends inside a field";
    case WireError::truncated: return "index out of range";
    case WireError::long_number: return "it has a number of more than ten bytes";
    default: return "it has a field of a wire type that is none";
  }
}

bool take(const Field& field, Fields& fields) {
  if (field.type != 2 || field.number > kId) return true;
  if (!is_utf8(field.bytes)) return false;
  if (field.number == kName) fields.name = field.bytes, fields.named = true;
  if (field.number == kVersion) fields.version = field.bytes;
  if (field.number == kId) fields.id = field.bytes;
  return true;
}

/// Walk over the top-level fields; `each` is given those of a head and returns whether they are well-formed.
template <typename Each>
Reading walk(std::string_view bytes, size_t total, const bool& named, std::string& error, Each each) {
  const bool whole = total <= kWhole;
  WireReader reader(bytes);
  for (int count = 0; !reader.at_end(); ++count) {
    if (!whole && count == kMaxFields) {
      error = kNotOne + ("it has more than " + std::to_string(kMaxFields)) + " fields";
      return Reading::wrong;
    }
    if (!whole && named && reader.peek() > kParameters) return Reading::done;
    Field field;
    const WireError found = reader.next(field);
    const bool to_come = found == WireError::truncated || (found == WireError::beyond && reader.declared() <= total);
    if (to_come && bytes.size() < total) return Reading::more;
    if (found != WireError::none || field.number == 0 || (field.number <= kParameters && !each(field))) {
      error = kNotOne + std::string(whole || found == WireError::none ? kUnparsed : words(found));
      return Reading::wrong;
    }
  }
  return bytes.size() < total ? Reading::more : Reading::done;
}

}  // namespace

Reading read_head(std::string_view bytes, size_t total, Head& head, std::string& error) {
  if (total <= kWhole && bytes.size() < total) return Reading::more;
  Fields fields;
  Choice deadline;
  bool given = false;
  const Reading reading = walk(bytes, total, fields.named, error, [&](const Field& field) {
    if (field.number != kParameters || field.type != 2) return take(field, fields);
    std::string_view key;
    Choice choice;
    if (!read_parameter(field.bytes, key, choice)) return false;
    if (key == "deadline_ms") deadline = choice, given = true;
    return true;
  });
  if (reading != Reading::done) return reading;
  if (given && !std::isfinite(deadline.number())) {
    error = kDeadlineKind;
    return Reading::wrong;
  }
  head = {std::string(fields.name), std::string(fields.version), std::string(fields.id), std::nullopt};
  if (given) head.budget = deadline.number() / 1e3;
  return Reading::done;
}

std::optional<AnswerHead> read_answer(std::string_view bytes, size_t total) {
  Fields fields;
  fields.named = true;  // an answer's tensors may follow its version at once
  AnswerHead head;
  std::string error;
  const Reading reading = walk(bytes, std::max(total, bytes.size()), fields.named, error, [&](const Field& field) {
    if (field.number != kParameters || field.type != 2) return take(field, fields);
    std::string_view key;
    Choice choice;
    if (!read_parameter(field.bytes, key, choice)) return false;
    const auto number = choice.kind == 2 ? int64_t(choice.value) : 0;
    if (key == "queue_us") head.queued = double(number) / 1e6;
    if (key == "compute_us") head.computed = double(number) / 1e6;
    if (key == "batch_size") head.batch = std::max<int64_t>(1, number);
    return true;
  });
  if (reading != Reading::done) return std::nullopt;
  head.version = std::string(fields.version);
  return head;
}

}  // namespace tidewise::router
