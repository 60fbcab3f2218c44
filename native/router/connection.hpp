#pragma once
#include <memory>
#include <string>

#include "loop.hpp"
#include "session.hpp"

namespace tidewise::router {

class Connection;

/// Who is told of what concerns a connection as a whole.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void on_request(Connection&, Stream&) {}
  virtual void on_connected(Connection&) {}
  virtual void on_goaway(Connection&) {}
  /// The connection is gone, its streams are about to be told.
  virtual void on_closed(Connection&, const std::string& why) = 0;
};

/// A session on a socket. The loop owns it; it is destroyed after `close`.
class Connection : public Pollable, private SessionOwner {
 public:
  static Connection* make(Loop& loop, Session::Role role, ConnectionOwner& owner);
  ~Connection() override;

  ConnectionOwner* owner;
  Session session;

  /// Use this socket; `connecting`: once it is writable.
  void open(int fd, bool connecting);
  void ready(uint32_t events) override;
  void flush() override;
  /// Close now; never from within a callback of this connection's session.
  void close(const std::string& why);
  /// Close at the end of the round.
  void abandon();
  /// Close once the last stream has ended.
  void leave_when_idle();
  bool is_open() const { return fd_ >= 0; }
  bool stalled_since(double moment) const { return output_.size() > 0 && progress_ < moment; }

 private:
  Connection(Loop& loop, Session::Role role, ConnectionOwner& owner);
  void on_request(Stream& stream) override;
  void on_goaway() override;
  void on_output() override { loop_.touch(this); }
  void connected();
  void receive();
  void write();
  void want(bool writable);

  Loop& loop_;
  Output output_;
  int fd_ = -1;
  bool connecting_ = true, writable_ = false, closed_ = false, abandoned_ = false, leaving_ = false;
  double progress_ = 0;  // when bytes were last written, or there were none to write
};

}  // namespace tidewise::router
