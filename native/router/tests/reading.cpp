#include <string>

#include "../channel.hpp"
#include "../head.hpp"
#include "../message.hpp"
#include "../orders.hpp"
#include "../wording.hpp"
#include "check.hpp"

using namespace tidewise::router;

namespace {

std::string field(int number, const std::string& content) {
  return std::string(1, char(number << 3 | 2)) + char(content.size()) + content;
}

std::string deadline(const std::string& value) { return field(4, field(1, "deadline_ms") + field(2, value)); }

Reading read(const std::string& bytes, Head& head) {
  std::string error;
  return read_head(bytes, bytes.size(), head, error);
}

std::string table(double share) {
  Writer writer(Kind::table);
  writer.u64(7);
  writer.u64(1024);
  writer.text("cycle");
  writer.u32(1);
  writer.f64(0.5);
  writer.u32(1);
  writer.text("garments");
  writer.f64(0.5);
  writer.f64(0.25);
  writer.u32(1);
  writer.text("fine");
  writer.u64(2);
  writer.f64(1);
  writer.u32(1);
  writer.text("a");
  writer.text("127.0.0.1:1");
  writer.u32(1);
  writer.u32(0);
  writer.f64(share);
  writer.f64(10);
  writer.f64(0.1);
  return writer.done().substr(5);
}

}  // namespace

TEST(a_head_is_read_in_any_order_and_the_last_of_each_counts) {
  Head head;
  CHECK(read(field(3, "q") + field(2, "1") + field(1, "x") + field(1, "garments") + field(2, "2"), head) == Reading::done);
  CHECK(head.application == "garments" && head.version == "2" && head.id == "q" && !head.budget);
}

TEST(a_deadline_is_a_finite_number) {
  Head head;
  CHECK(read(field(1, "x") + deadline("\x10\x64"), head) == Reading::done && *head.budget == 0.1);
  CHECK(read(field(1, "x") + deadline("\x28\x64"), head) == Reading::done && *head.budget == 0.1);
  CHECK(read(field(1, "x") + deadline(field(3, "soon")), head) == Reading::wrong);
  CHECK(read(field(1, "x") + deadline(std::string("\x21\0\0\0\0\0\0\xf0\x7f", 9)), head) == Reading::wrong);
}

TEST(a_large_message_is_read_as_soon_as_its_tensors_begin) {
  Head head;
  std::string error;
  const std::string bytes = field(1, "garments") + field(2, "2") + "\x2a\xff\xff\x03";
  CHECK(read_head(bytes.substr(0, 4), 1 << 20, head, error) == Reading::more);
  CHECK(read_head(bytes.substr(0, 10), 1 << 20, head, error) == Reading::more);
  CHECK(read_head(bytes, 1 << 20, head, error) == Reading::done && head.version == "2");
}

TEST(a_message_of_countless_fields_is_refused) {
  Head head;
  std::string error, bytes;
  for (int count = 0; count < 100'000; ++count) bytes += std::string("\x2a\0", 2);
  CHECK(read_head(bytes, bytes.size(), head, error) == Reading::wrong);
  CHECK(error == "the message is not a ModelInferRequest: it has more than 4096 fields");
}

TEST(text_that_is_not_utf8_is_refused) {
  Head head;
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"})
    CHECK(read(field(1, bad), head) == Reading::wrong);
  CHECK(read(field(1, "caf\xc3\xa9 \xf0\x9f\x91\x95"), head) == Reading::done);
}

TEST(names_are_quoted_as_python_quotes_them) {
  CHECK(quoted("a") == "'a'");
  CHECK(quoted("it's") == "\"it's\"");
  CHECK(quoted("'\"") == "'\\'\"'");
  CHECK(quoted(std::string("\n\x01\\", 3)) == "'\\n\\x01\\\\'");
}

TEST(characters_and_not_bytes_are_cut) { CHECK(shown("\xc3\xa9\xc3\xa9\xc3\xa9", 2) == "\xc3\xa9\xc3\xa9"); }

TEST(status_messages_survive_their_encoding) {
  const std::string text = "100 % 'caf\xc3\xa9'\n";
  CHECK(percent_decoded(percent_encoded(text)) == text);
  CHECK(percent_encoded("a\n") == "a%0A");
  CHECK(percent_decoded("%zz%4") == "%zz%4");
}

TEST(timeouts_are_read_and_written) {
  CHECK(timeout_text(0.25) == "250000u" && timeout_text(1000) == "1000000m");
  CHECK(timeout_seconds("250m") == 0.25 && timeout_seconds("2H") == 7200);
  CHECK(timeout_seconds("") < 0 && timeout_seconds("m") < 0 && timeout_seconds("1x") < 0 && timeout_seconds("1234567890S") < 0);
}

TEST(a_message_is_put_together_from_its_pieces) {
  Message message;
  for (const char byte : std::string("\0\0\0\0\x03" "abc", 8)) {
    CHECK(!message.complete());
    message.add(copy_of(reinterpret_cast<const uint8_t*>(&byte), 1));
  }
  std::string joined;
  CHECK(message.complete() && !message.overrun() && message.content(joined) == "abc");
}

TEST(an_order_that_is_cut_short_is_no_snapshot) {
  const std::string whole = table(0.5);
  for (size_t size = 0; size < whole.size(); ++size) CHECK(read_snapshot(Reader(std::string_view(whole).substr(0, size))) == nullptr);
  const auto snapshot = read_snapshot(Reader(whole));
  CHECK(snapshot != nullptr && snapshot->applications[0].routes[0].worker == "a");
  CHECK(read_snapshot(Reader(table(-1))) == nullptr);
}
