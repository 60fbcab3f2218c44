#include "session_callbacks.hpp"

#include <algorithm>

#include "session.hpp"

namespace tidewise::router {

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

  static nghttp2_session_callbacks* make() {
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
  }
};

nghttp2_session_callbacks* session_callbacks() {
  static nghttp2_session_callbacks* const made = Callbacks::make();
  return made;
}

}  // namespace tidewise::router
