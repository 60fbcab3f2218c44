// One ModelInfer call: read its head, choose a worker, send, perhaps once more, and count how it ended.
// router/forward.py is the same in Python.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "attempt.hpp"
#include "desk.hpp"
#include "head.hpp"
#include "message.hpp"
#include "session.hpp"

namespace tidewise::router {

// Metadata that names a query: core/loss.py.
constexpr char kRequestId[] = "x-request-id", kTraceParent[] = "traceparent";

/// Belongs to its caller's stream and ends with it.
class Query : public StreamOwner, public AttemptOwner {
 public:
  Query(Desk& desk, Stream& caller);
  ~Query() override;

  void on_headers(Stream& stream, bool end) override;
  void on_data(Stream& stream, const uint8_t* data, size_t size) override;
  void on_end(Stream& stream) override;
  void on_sent(Stream& stream, size_t size) override;
  void on_close(Stream& stream, uint32_t code, bool lost) override;

 private:
  void read_head();
  void refuse_unread(Failure failure);
  void admit(double now);
  void pick(const std::string& avoid, std::optional<Failure> otherwise);
  void send(const std::shared_ptr<const Entry>& entry, const Lane& lane);
  void attempt_failed(Failure failure) override;
  void attempt_speaks(const Slice& slice) override;
  void attempt_answered(std::optional<AnswerHead> said) override;
  void attempt_sent(size_t size) override;
  void expire();
  void settle(Failure failure);
  void lose(const Failure& failure);
  void name();
  void end(const Failure& failure);
  void break_off(Failure failure);
  void hold();
  void release();

  Desk& desk_;
  Stream& caller_;
  Message message_;
  Head head_;
  size_t read_again_at_ = 0;  // bytes of the message at which reading its head is worth another try
  Headers passed_;
  double wire_deadline_;      // of the caller's own gRPC timeout
  double arrived_ = 0, deadline_ = 0;
  size_t unread_ = 0;         // bytes buffered before the head was known
  size_t sent_ = 0;           // bytes of this attempt that have left
  size_t credited_ = 0;       // bytes the caller has been given back
  int attempts_ = 0;
  bool admitted_ = false, held_ = false, answering_ = false, over_ = false;
  Counts* counts_ = nullptr;
  std::string worker_;        // the one it was last sent to
  std::shared_ptr<const Entry> entry_;
  std::unique_ptr<Attempt> attempt_;
  Timer timer_;
};

}  // namespace tidewise::router
