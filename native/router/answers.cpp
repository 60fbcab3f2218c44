#include "answers.hpp"

#include "wording.hpp"

namespace tidewise::router {

const Headers& answer_headers() {
  static const Headers headers{{":status", "200"}, {"content-type", "application/grpc"}};
  return headers;
}

Headers status_headers(const Failure& failure) {
  Headers headers{{"grpc-status", std::to_string(failure.code)},
                  {"grpc-message", failure.encoded ? failure.message : percent_encoded(failure.message)}};
  headers.insert(headers.end(), failure.trailing.begin(), failure.trailing.end());
  if (find(failure.trailing, "tidewise-reason") == nullptr)
    headers.emplace_back("tidewise-reason", row(failure.reason).name);
  return headers;
}

}  // namespace tidewise::router
