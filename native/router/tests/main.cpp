//   router_tests            runs every test
//   router_tests reasons    prints every reason and its gRPC code, for comparison with Python's
//   router_tests replay     reads a history of choices (tests/router/test_same_choice.py writes it) and answers it
#include <cstring>

#include "../reason.hpp"
#include "check.hpp"

int replay();

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "replay") == 0) return replay();
  if (count == 2 && std::strcmp(words[1], "reasons") == 0) {
    for (int reason = 0; reason < tidewise::router::kReasons; ++reason) {
      const auto& row = tidewise::router::row(tidewise::router::Reason(reason));
      std::printf("%s %d\n", row.name, int(row.code));
    }
    return 0;
  }
  for (const auto& test : tidewise::router::tests()) {
    test.body();
    std::printf("ok  %s\n", test.name.c_str());
  }
  return 0;
}
