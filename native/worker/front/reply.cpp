#include "reply.hpp"

#include <cmath>

#include "catalogue.hpp"

namespace tidewise::worker {
namespace {

constexpr std::size_t kCopied = 16 * 1024;  // bytes of an output up to which a copy is cheaper than a slice of its own

// Protobuf's wire format, written.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void bytes(unsigned field, std::string_view value) {
    begin(field, value.size());
    text_.append(value);
  }
  // What is to come are `size` bytes of this field.
  void begin(unsigned field, std::size_t size) {
    varint(field << 3 | 2);
    varint(size);
  }
  void append(const char* data, std::size_t size) { text_.append(data, size); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += char(value | 0x80);
    text_ += char(value);
  }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void parameter(Message& message, std::string_view name, const Message& choice) {
  Message entry;
  entry.bytes(1, name);
  entry.bytes(2, choice.text());
  message.bytes(4, entry.text());
}

void parameter(Message& message, std::string_view name, std::string_view value) {
  Message choice;
  choice.bytes(3, value);
  parameter(message, name, choice);
}

void parameter(Message& message, std::string_view name, std::int64_t value) {
  Message choice;
  choice.number(2, std::uint64_t(value));
  parameter(message, name, choice);
}

std::int64_t microseconds(double seconds) { return std::int64_t(std::nearbyint(seconds * 1e6)); }

std::int64_t count_rows(const std::vector<Piece>& pieces, std::size_t place) {
  std::int64_t rows = 0;
  for (const Piece& piece : pieces) rows += piece[place].shape.front();
  return rows;
}

void describe(Message& message, const std::string& name, const std::vector<Piece>& pieces, std::size_t place) {
  const worker::Tensor& first = pieces.front()[place];
  Message shape, output;
  shape.varint(std::uint64_t(count_rows(pieces, place)));
  for (std::size_t axis = 1; axis < first.shape.size(); ++axis) shape.varint(std::uint64_t(first.shape[axis]));
  output.bytes(1, name);
  output.bytes(2, datatype_name(first.type));
  output.bytes(3, shape.text());
  message.bytes(5, output.text());
}

std::size_t size_of(const worker::Tensor& tensor) { return count_items(tensor.shape) * item_size(tensor.type); }

router::Slice owned(std::string text) {
  auto held = std::make_shared<std::string>(std::move(text));
  const std::size_t size = held->size();
  return {std::shared_ptr<char[]>(held, held->data()), 0, size};
}

router::Slice shared(const worker::Tensor& tensor) {
  // The slice only reads, and its type knows no const.
  return {std::shared_ptr<char[]>(std::const_pointer_cast<void>(tensor.owner), const_cast<char*>(tensor.data)), 0,
          size_of(tensor)};
}

// One output's bytes, piece after piece.
void contents(Message& message, std::vector<router::Slice>& slices, const std::vector<Piece>& pieces, std::size_t place) {
  std::size_t total = 0;
  for (const Piece& piece : pieces) total += size_of(piece[place]);
  message.begin(6, total);
  for (const Piece& piece : pieces) {
    const worker::Tensor& tensor = piece[place];
    if (total <= kCopied) {
      message.append(tensor.data, size_of(tensor));
      continue;
    }
    slices.push_back(owned(message.take()));
    slices.push_back(shared(tensor));
    message = {};
  }
}

}  // namespace

std::vector<router::Slice> encode(std::string_view application, std::string_view id, const std::string& worker,
                                  const std::vector<std::string>& outputs, const Answer& answer) {
  Message message;
  message.append("\0\0\0\0\0", 5);
  message.bytes(1, application);
  message.bytes(2, std::to_string(answer.version));
  if (!id.empty()) message.bytes(3, id);
  parameter(message, "variant", answer.variant);
  parameter(message, "worker", worker);
  parameter(message, "plan_version", std::int64_t(answer.plan_version));
  parameter(message, "queue_us", microseconds(answer.queued));
  parameter(message, "compute_us", microseconds(answer.computed));
  parameter(message, "batch_size", answer.batch);
  for (std::size_t place = 0; place < outputs.size(); ++place) describe(message, outputs[place], answer.pieces, place);
  std::vector<router::Slice> slices;
  for (std::size_t place = 0; place < outputs.size(); ++place) contents(message, slices, answer.pieces, place);
  if (!message.text().empty()) slices.push_back(owned(message.take()));
  std::size_t size = 0;
  for (const router::Slice& slice : slices) size += slice.size;
  size -= 5;
  char* prefix = slices.front().block.get();
  for (int place = 0; place < 4; ++place) prefix[4 - place] = char(size >> 8 * place);
  return slices;
}

}  // namespace tidewise::worker
