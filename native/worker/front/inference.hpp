// One ModelInfer call that never sees Python: read, checked, queued, answered. worker/service.py is the reference, and takes
// over whatever is unusual.
#pragma once

#include <memory>
#include <string>

#include "../../router/reason.hpp"
#include "../../router/session.hpp"
#include "admission.hpp"
#include "desk.hpp"

namespace tidewise::worker {

class Inference;

// Told to its call on the front's thread; `call` is null once that is gone.
struct FrontCaller : Caller {
  Inference* call = nullptr;
};

// One message of a call, prefix included, in one piece.
class Incoming {
 public:
  void add(const std::uint8_t* data, std::size_t size);
  std::size_t received() const { return received_; }
  bool begun() const { return received_ >= 5; }
  // Of the whole, prefix included.
  std::size_t expected() const;
  bool complete() const { return begun() && received_ >= expected(); }
  bool unusual() const { return begun() && (memory_[0] != 0 || received_ > expected()); }
  const std::shared_ptr<char[]>& memory() const { return memory_; }

 private:
  void grow(std::size_t wanted);

  std::shared_ptr<char[]> memory_;
  std::size_t capacity_ = 0, received_ = 0;
};

// Belongs to its caller's stream and ends with it.
class Inference : public router::StreamOwner {
 public:
  Inference(Desk& desk, router::Stream& stream);
  ~Inference() override;

  void told(Delivery& delivery);

  void on_headers(router::Stream& stream, bool end) override;
  void on_data(router::Stream& stream, const std::uint8_t* data, std::size_t size) override;
  void on_end(router::Stream& stream) override;
  void on_sent(router::Stream&, std::size_t) override {}
  void on_close(router::Stream& stream, std::uint32_t code, bool lost) override;

 private:
  void read();
  bool submit();
  // Leave the call to Python's front, from its beginning; this object is gone afterwards.
  void hand_over(bool ended);
  void fail(const router::Failure& failure);
  void lose(Reason reason, std::string sentence);
  void release();

  Desk& desk_;
  router::Stream& stream_;
  Incoming message_;
  std::size_t held_ = 0;
  double wire_deadline_ = kNever;
  std::shared_ptr<FrontCaller> caller_;  // from when it is queued until it is told
  const Device* device_ = nullptr;
  std::string application_, id_;
  bool over_ = false;
};

}  // namespace tidewise::worker
