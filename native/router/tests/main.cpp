//   router_tests            runs every test
//   router_tests replay     reads a history of choices (tests/router/test_same_choice.py writes it) and answers it
#include <cstring>

#include "check.hpp"

int replay();

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "replay") == 0) return replay();
  for (const auto& test : tidewise::router::tests()) {
    test.body();
    std::printf("ok  %s\n", test.name.c_str());
  }
  return 0;
}
