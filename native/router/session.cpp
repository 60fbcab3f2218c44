#include "session.hpp"

#include <algorithm>

namespace tidewise::router {

namespace {

constexpr uint32_t kStreamWindow = 1 << 19;      // bytes a peer may send on a stream before they have been passed on
constexpr int32_t kConnectionWindow = 1 << 26;
constexpr uint32_t kStreams = 4096;              // of one caller at a time
constexpr uint32_t kHeaderBytes = 32 * 1024;     // of one header block
[[maybe_unused]] constexpr uint64_t kResets = 20'000, kResetsPerSecond = 2'000;  // a caller's cancelled streams before it is cut off

std::vector<nghttp2_nv> pairs(const Headers& headers) {
  std::vector<nghttp2_nv> found;
  found.reserve(headers.size());
  for (const auto& [name, value] : headers) {
    auto* name_bytes = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data()));
    auto* value_bytes = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data()));
    found.push_back({name_bytes, value_bytes, name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  return found;
}

}  // namespace

// Each translates one call of libnghttp2. None destroys a session or calls its send or receive function.
struct Callbacks {
  static int begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& self = *static_cast<Session*>(user);
    const int32_t id = frame->hd.stream_id;
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (self.role_ == Session::Role::server && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      auto stream = std::make_unique<Stream>(self, id, nullptr);
      nghttp2_session_set_stream_user_data(session, id, stream.get());
      self.streams_.emplace(id, std::move(stream));
    } else if (Stream* stream = self.find(id)) {
      stream->headers.clear();
      stream->header_bytes_ = 0;
    }
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* user) {
    Stream* stream = static_cast<Session*>(user)->find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->header_bytes_ += name_size + value_size + 32;
    if (stream->header_bytes_ > kHeaderBytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream
    stream->headers.emplace_back(std::string(reinterpret_cast<const char*>(name), name_size),
                                 std::string(reinterpret_cast<const char*>(value), value_size));
    return 0;
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto& self = *static_cast<Session*>(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) self.owner_.on_goaway();
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Stream* stream = self.find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const bool end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    stream->remote_ended |= end;
    if (frame->hd.type == NGHTTP2_HEADERS) {
      const bool request = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
      if (request) self.owner_.on_request(*stream);
      if (stream->owner != nullptr) stream->owner->on_headers(*stream, end);
    }
    if (end && stream->owner != nullptr) stream->owner->on_end(*stream);
    return 0;
  }

  static int data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
    auto& self = *static_cast<Session*>(user);
    nghttp2_session_consume_connection(session, size);  // one slow stream must not stop the others
    Stream* stream = self.find(id);
    if (stream != nullptr && stream->owner != nullptr)
      stream->owner->on_data(*stream, data, size);
    else
      nghttp2_session_consume_stream(session, id, size);
    return 0;
  }

  static int closed(nghttp2_session*, int32_t id, uint32_t code, void* user) {
    auto& self = *static_cast<Session*>(user);
    if (Stream* stream = self.find(id)) self.close(*stream, code, false);
    return 0;
  }

  static int frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    // A caller that is answered while it still sends is told to stop (RFC 9113, 8.1).
    auto& self = *static_cast<Session*>(user);
    const bool body = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (self.role_ != Session::Role::server || !body || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    const Stream* stream = self.find(frame->hd.stream_id);
    if (stream != nullptr && !stream->remote_ended)
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
  }

  static int send_data(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t size, nghttp2_data_source* source,
                       void* user) {
    auto& self = *static_cast<Session*>(user);
    auto& stream = *static_cast<Stream*>(source->ptr);
    self.output_->add(head, 9);  // the frame's header; we never pad
    const size_t sent = size;
    while (size > 0) {
      Slice& first = stream.queue_.front();
      const size_t part = std::min(size, first.size);
      self.output_->add(Slice{first.block, first.offset, part});
      first.offset += part;
      first.size -= part;
      size -= part;
      if (first.size == 0) stream.queue_.pop_front();
    }
    stream.pending_ -= sent;
    self.pending_ -= sent;
    if (stream.owner != nullptr) stream.owner->on_sent(stream, sent);
    return 0;
  }

  static nghttp2_session_callbacks* all() {
    static nghttp2_session_callbacks* made = [] {
      nghttp2_session_callbacks* found;
      nghttp2_session_callbacks_new(&found);
      nghttp2_session_callbacks_set_on_begin_headers_callback(found, begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(found, header);
      nghttp2_session_callbacks_set_on_frame_recv_callback(found, frame_received);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(found, data);
      nghttp2_session_callbacks_set_on_stream_close_callback(found, closed);
      nghttp2_session_callbacks_set_on_frame_send_callback(found, frame_sent);
      nghttp2_session_callbacks_set_send_data_callback(found, send_data);
      return found;
    }();
    return made;
  }
};

Session::Session(Role role, SessionOwner& owner) : role_(role), owner_(owner) {
  nghttp2_option* option;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_peer_max_concurrent_streams(option, kStreams);
  nghttp2_option_set_no_closed_streams(option, 1);
#ifdef NGHTTP2_COUNTS_RESETS
  nghttp2_option_set_stream_reset_rate_limit(option, kResets, kResetsPerSecond);
#endif
  if (role == Role::server)
    nghttp2_session_server_new2(&session_, Callbacks::all(), this, option);
  else
    nghttp2_session_client_new2(&session_, Callbacks::all(), this, option);
  nghttp2_option_del(option);
  settings();
}

void Session::settings() {
  const nghttp2_settings_entry entries[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
                                            {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreams},
                                            {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderBytes},
                                            {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  const size_t count = role_ == Role::client ? 4 : 3;
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries, count);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Session::~Session() { nghttp2_session_del(session_); }

bool Session::receive(const uint8_t* data, size_t size) {
  const ssize_t taken = nghttp2_session_mem_recv(session_, data, size);
  owner_.on_output();  // acknowledgements and window updates
  return taken >= 0;
}

bool Session::fill(Output& output, size_t limit) {
  output_ = &output;
  while (output.size() < limit) {
    const uint8_t* data;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return false;
    if (size == 0) break;
    output.add(data, size_t(size));
  }
  return true;
}

Stream* Session::request(const Headers& headers, StreamOwner& owner) {
  auto stream = std::make_unique<Stream>(*this, 0, &owner);
  nghttp2_data_provider provider{};
  provider.source.ptr = stream.get();
  provider.read_callback = read;
  const auto fields = pairs(headers);
  const int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), &provider, stream.get());
  if (id < 0) return nullptr;
  stream->id_ = id;
  owner_.on_output();
  return streams_.emplace(id, std::move(stream)).first->second.get();
}

void Session::lose_streams() {
  while (!streams_.empty()) close(*streams_.begin()->second, NGHTTP2_INTERNAL_ERROR, true);
}

void Session::close(Stream& stream, uint32_t code, bool lost) {
  const auto found = streams_.find(stream.id_);
  const auto kept = std::move(found->second);  // until its owner has been told
  streams_.erase(found);
  pending_ -= stream.pending_;
  if (!lost) nghttp2_session_set_stream_user_data(session_, stream.id_, nullptr);
  if (stream.owner != nullptr) stream.owner->on_close(stream, code, lost);
}

void Session::go_away(bool finally) {
  if (finally)
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                          NGHTTP2_NO_ERROR, nullptr, 0);
  else
    nghttp2_submit_shutdown_notice(session_);
  owner_.on_output();
}

bool Session::finished() const { return !nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_); }

ssize_t Session::read(nghttp2_session* session, int32_t id, uint8_t*, size_t limit, uint32_t* flags,
                      nghttp2_data_source* source, void*) {
  auto& stream = *static_cast<Stream*>(source->ptr);
  const size_t size = std::min(limit, stream.pending_);
  if (size == 0 && !stream.finished_) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (stream.finished_ && size == stream.pending_) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!stream.trailers_.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const auto fields = pairs(stream.trailers_);
      nghttp2_submit_trailer(session, id, fields.data(), fields.size());
    }
  }
  return ssize_t(size);
}

void Stream::respond(const Headers& headers, bool end) {
  nghttp2_data_provider provider{};
  provider.source.ptr = this;
  provider.read_callback = Session::read;
  const auto fields = pairs(headers);
  nghttp2_submit_response(session_.session_, id_, fields.data(), fields.size(), end ? nullptr : &provider);
  session_.owner_.on_output();
}

void Stream::push(Slice slice) {
  if (slice.size == 0) return;
  pending_ += slice.size;
  session_.pending_ += slice.size;
  queue_.push_back(std::move(slice));
  resume();
}

void Stream::finish(Headers trailers) {
  finished_ = true;
  trailers_ = std::move(trailers);
  resume();
}

void Stream::resume() {
  nghttp2_session_resume_data(session_.session_, id_);
  session_.owner_.on_output();
}

void Stream::reset(uint32_t code) {
  nghttp2_submit_rst_stream(session_.session_, NGHTTP2_FLAG_NONE, id_, code);
  session_.owner_.on_output();
}

void Stream::consume(size_t size) {
  nghttp2_session_consume_stream(session_.session_, id_, size);
  session_.owner_.on_output();
}

}  // namespace tidewise::router
