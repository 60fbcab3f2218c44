#include "session.hpp"

#include <algorithm>

#include "session_callbacks.hpp"

namespace tidewise::router {

namespace {

constexpr uint32_t kStreamWindow = 1 << 19;      // bytes a peer may send on a stream before they have been passed on
constexpr int32_t kConnectionWindow = 1 << 26;
constexpr uint32_t kStreams = 4096;              // of one caller at a time
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
    nghttp2_session_server_new2(&session_, session_callbacks(), this, option);
  else
    nghttp2_session_client_new2(&session_, session_callbacks(), this, option);
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
