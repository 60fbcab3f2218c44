// One sending of a query to one worker.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "head.hpp"
#include "message.hpp"
#include "reason.hpp"
#include "session.hpp"
#include "table.hpp"

namespace tidewise::router {

/// Who is told how an attempt goes. `attempt_failed` and `attempt_answered` are its last words: it may be destroyed
/// in them.
class AttemptOwner {
 public:
  virtual ~AttemptOwner() = default;
  virtual void attempt_failed(Failure failure) = 0;
  /// Part of the answer; once this has been called, only the answer's end can be otherwise than the worker wants it.
  virtual void attempt_speaks(const Slice& slice) = 0;
  virtual void attempt_answered(std::optional<AnswerHead> said) = 0;
  virtual void attempt_sent(size_t size) = 0;
};

class Attempt : private StreamOwner {
 public:
  Attempt(AttemptOwner& owner, std::shared_ptr<const Entry> entry, const Lane& lane, size_t limit);
  /// Cancels at the worker what is not over.
  ~Attempt() override;

  /// Begin; false if that fails at once (and then nothing is told to the owner).
  bool begin(double budget, const Headers& passed);
  Failure not_begun();
  void push(const Slice& slice) { stream_->push(slice); }
  void finish() { stream_->finish(); }
  /// The query's deadline has passed.
  void expire();
  /// The caller has taken this much of the answer.
  void consumed(size_t size);
  const std::string& worker() const { return lane_.route->worker; }

 private:
  void on_headers(Stream& stream, bool end) override;
  void on_data(Stream& stream, const uint8_t* data, size_t size) override;
  void on_end(Stream& stream) override;
  void on_sent(Stream&, size_t size) override { owner_.attempt_sent(size); }
  void on_close(Stream& stream, uint32_t code, bool lost) override;
  void read_end(const Headers& headers);
  void read_answer_head();
  void speak();
  void fail(int code, const std::string& message);
  void fail(Failure failure);
  void settle(bool heard);

  AttemptOwner& owner_;
  std::shared_ptr<const Entry> entry_;  // keeps the lane's route alive
  Lane lane_;
  size_t limit_;
  double sent_ = 0;
  Stream* stream_ = nullptr;
  size_t credited_ = 0;  // bytes of the answer the worker has been given back while they were held
  bool settled_ = false, speaking_ = false, over_ = false;
  std::string http_status_, code_, message_;
  Headers trailing_;
  Message answer_;
  std::optional<AnswerHead> said_;
};

}  // namespace tidewise::router
