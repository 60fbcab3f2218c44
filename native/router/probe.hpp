#pragma once
#include <string>

#include "link.hpp"

namespace tidewise::router {

/// One question to a worker's health service; tells its link and is destroyed by it.
class Probe : private StreamOwner {
 public:
  Probe(Loop& loop, Link& link);
  ~Probe() override;
  void ask();

 private:
  void answer(Event event);
  Event verdict() const;
  void on_headers(Stream& stream, bool end) override;
  void on_data(Stream& stream, const uint8_t* data, size_t size) override;
  void on_end(Stream&) override {}
  void on_sent(Stream&, size_t) override {}
  void on_close(Stream& stream, uint32_t code, bool lost) override;

  Link& link_;
  Stream* stream_ = nullptr;
  std::string code_, body_;
  Event found_ = Event::unanswered;
  Timer timer_;  // first the limit, then the moment to tell
};

}  // namespace tidewise::router
