// The least a test needs: a name, a body, and a check that says where it failed.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace tidewise::router {

struct Test {
  std::string name;
  std::function<void()> body;
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registered {
  Registered(const char* name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

}  // namespace tidewise::router

#define TEST(name)                                                        \
  static void name();                                                     \
  static const tidewise::router::Registered registered_##name(#name, name); \
  static void name()

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (false)
