#include "probe.hpp"

#include "../clock.hpp"
#include "sockets.hpp"
#include "wire.hpp"

namespace tidewise::router {

namespace {
constexpr double kSeconds = 0.5;  // a process that takes longer to say that it is healthy is not
constexpr size_t kReply = 1024;   // bytes of a reply that are read
constexpr uint8_t kEmpty[5] = {};
}  // namespace

Probe::Probe(Loop& loop, Link& link) : link_(link), timer_(loop, [this] { link_.probed(found_, !code_.empty()); }) {}

Probe::~Probe() {
  if (stream_ == nullptr) return;
  stream_->owner = nullptr;
  stream_->reset(NGHTTP2_CANCEL);
}

void Probe::ask() {
  timer_.set(now() + kSeconds);
  stream_ = link_.request({{":method", "POST"},
                           {":scheme", "http"},
                           {":path", "/grpc.health.v1.Health/Check"},
                           {":authority", authority(link_.address())},
                           {"te", "trailers"},
                           {"content-type", "application/grpc"},
                           {"grpc-timeout", "500m"}},
                          *this);
  if (stream_ == nullptr) return answer(Event::unanswered);
  stream_->push(copy_of(kEmpty, sizeof kEmpty));
  stream_->finish();
}

void Probe::answer(Event event) {
  // Told from the loop, for this is called from within the stream and the link will destroy both.
  found_ = event;
  timer_.set(now());
}

void Probe::on_headers(Stream& stream, bool) {
  if (const std::string* code = find(stream.headers, "grpc-status")) code_ = *code;
}

void Probe::on_data(Stream& stream, const uint8_t* data, size_t size) {
  if (body_.size() + size <= kReply) body_.append(reinterpret_cast<const char*>(data), size);
  stream.consume(size);
}

void Probe::on_close(Stream&, uint32_t, bool) {
  stream_ = nullptr;
  answer(verdict());
}

Event Probe::verdict() const {
  if (code_ == "12") return Event::answered;  // no health service: saying so shows that it is alive
  if (code_ != "0" || body_.size() < 5) return Event::unanswered;
  uint64_t status = 0;
  for (WireReader reader(std::string_view(body_).substr(5)); !reader.at_end();) {
    Field field;
    if (reader.next(field) != WireError::none) return Event::unanswered;
    if (field.number == 1 && field.type == 0) status = field.value;
  }
  return status == 1 ? Event::answered : Event::unanswered;
}

}  // namespace tidewise::router
