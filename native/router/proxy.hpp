#pragma once
#include "link.hpp"
#include "session.hpp"

namespace tidewise::router {

/// A call that the Python side answers, passed both ways as it comes. Belongs to its caller's stream and ends with it.
class Proxy : public StreamOwner {
 public:
  /// `credited` bytes have been taken from the caller already and are passed on first.
  Proxy(Stream& caller, Link* python, size_t& calls, size_t credited = 0);
  ~Proxy() override;

  void on_headers(Stream& stream, bool end) override;
  void on_data(Stream& stream, const uint8_t* data, size_t size) override;
  void on_end(Stream& stream) override;
  void on_sent(Stream& stream, size_t size) override;
  void on_close(Stream& stream, uint32_t code, bool lost) override;

 private:
  void begin();
  void unavailable();
  bool is_caller(const Stream& stream) const { return &stream == &caller_; }
  Stream* other(const Stream& stream) { return is_caller(stream) ? python_ : &caller_; }

  Stream& caller_;
  Link* link_;
  Stream* python_ = nullptr;
  size_t& calls_;
  size_t credited_;
  bool begun_ = false, answering_ = false, over_ = false;
};

}  // namespace tidewise::router
