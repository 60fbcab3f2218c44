// HTTP/2 without a socket: one session of libnghttp2 and its streams.
#pragma once
#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "headers.hpp"
#include "output.hpp"
#include "slice.hpp"

namespace tidewise::router {

class Session;
class Stream;

/// Who is told of what happens on one stream.
class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  /// A header block is complete: `stream.headers`. `end`: the peer says nothing after it.
  virtual void on_headers(Stream& stream, bool end) = 0;
  virtual void on_data(Stream& stream, const uint8_t* data, size_t size) = 0;
  /// The peer has said everything.
  virtual void on_end(Stream& stream) = 0;
  /// This many pushed bytes have left for the connection.
  virtual void on_sent(Stream& stream, size_t size) = 0;
  /// The last call; the stream is gone after it. `code` is HTTP/2's, `lost` whether the whole connection is gone.
  virtual void on_close(Stream& stream, uint32_t code, bool lost) = 0;
};

/// One stream. An owner that no longer cares sets `owner` to null.
class Stream {
 public:
  Stream(Session& session, int32_t id, StreamOwner* owner) : owner(owner), session_(session), id_(id) {}

  StreamOwner* owner;
  Headers headers;
  bool remote_ended = false;

  Session& session() { return session_; }
  /// Answer with these headers; with `end` they are all there is to say.
  void respond(const Headers& headers, bool end);
  /// Send these bytes next.
  void push(Slice slice);
  /// Nothing more will be pushed; a server ends with these trailers.
  void finish(Headers trailers = {});
  void reset(uint32_t code);
  /// Let the peer send this many bytes more.
  void consume(size_t size);
  size_t pending() const { return pending_; }

 private:
  friend class Session;
  friend struct Callbacks;
  void resume();

  Session& session_;
  int32_t id_;
  size_t header_bytes_ = 0;
  std::deque<Slice> queue_;
  size_t pending_ = 0;
  bool finished_ = false;
  Headers trailers_;
};

/// Who is told of what concerns a session as a whole.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  /// A server's peer has begun a stream with `stream.headers`; sets `stream.owner`.
  virtual void on_request(Stream& stream) = 0;
  /// The peer will take no more streams.
  virtual void on_goaway() = 0;
  /// There is something to write.
  virtual void on_output() = 0;
};

class Session {
 public:
  enum class Role { server, client };

  Session(Role role, SessionOwner& owner);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Take bytes from the peer; false if it does not speak HTTP/2 in a way that can go on.
  bool receive(const uint8_t* data, size_t size);
  /// Move frames to `output` until it holds about `limit` bytes; false if the session is broken.
  bool fill(Output& output, size_t limit);
  /// Begin a stream; null when no more can be begun here.
  Stream* request(const Headers& headers, StreamOwner& owner);
  /// Tell every stream's owner that the stream is gone with the connection.
  void lose_streams();
  /// Ask the peer to begin no more streams; `finally`: those it begins now are ignored.
  void go_away(bool finally);
  bool finished() const;
  Role role() const { return role_; }
  size_t streams() const { return streams_.size(); }
  /// Bytes pushed to streams and not yet moved to the output.
  size_t pending() const { return pending_; }

 private:
  friend class Stream;
  friend struct Callbacks;
  static ssize_t read(nghttp2_session*, int32_t, uint8_t*, size_t, uint32_t*, nghttp2_data_source*, void*);
  Stream* find(int32_t id) { return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session_, id)); }
  void close(Stream& stream, uint32_t code, bool lost);
  void settings();

  Role role_;
  SessionOwner& owner_;
  nghttp2_session* session_ = nullptr;
  Output* output_ = nullptr;  // while filling
  size_t pending_ = 0;
  std::unordered_map<int32_t, std::unique_ptr<Stream>> streams_;
};

}  // namespace tidewise::router
