// Any bytes are a head or an error, and what is read of the beginning of a large message stays true when more arrives.
#include <cstdlib>
#include <string_view>

#include "../head.hpp"
#include "../wording.hpp"

using namespace tidewise::router;

namespace {
constexpr size_t kLarge = 1 << 20;  // pretended size of a message whose beginning is read

void require(bool holds) {
  if (!holds) std::abort();
}

bool same(const Head& one, const Head& other) {
  return one.application == other.application && one.version == other.version && one.id == other.id &&
         one.budget == other.budget;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Head head, early;
  std::string error;
  const Reading whole = read_head(bytes, size, head, error);
  require(whole != Reading::more);
  require((whole == Reading::wrong) == !error.empty());
  if (whole == Reading::done) require(is_utf8(head.application) && is_utf8(head.version) && is_utf8(head.id));
  (void)read_answer(bytes, size);
  (void)read_answer(bytes, kLarge);
  const Reading first = read_head(bytes.substr(0, size / 2), kLarge, early, error);
  const Reading second = read_head(bytes, kLarge, head, error);
  if (first == Reading::done) require(second == Reading::done && same(early, head));
  (void)is_utf8(percent_decoded(percent_encoded(quoted(shown(bytes, 80)))));
  (void)timeout_seconds(bytes);
  return 0;
}
