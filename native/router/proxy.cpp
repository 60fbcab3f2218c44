#include "proxy.hpp"

#include <algorithm>

namespace tidewise::router {

Proxy::Proxy(Stream& caller, Link* python, size_t& calls, size_t credited)
    : caller_(caller), link_(python), calls_(calls), credited_(credited) {
  ++calls_;
}

Proxy::~Proxy() {
  --calls_;
  if (python_ == nullptr) return;
  python_->owner = nullptr;
  python_->reset(NGHTTP2_CANCEL);
}

void Proxy::on_headers(Stream& stream, bool end) {
  if (is_caller(stream)) {
    if (!begun_) begin();
    return;
  }
  const std::string* status = find(stream.headers, ":status");
  if (status == nullptr) return;                                   // trailers: on_end passes them
  if (status->size() == 3 && (*status)[0] == '1') return;          // more is to come
  answering_ = true;
  caller_.respond(stream.headers, end);
  over_ = end;
}

void Proxy::begin() {
  begun_ = true;
  python_ = link_ == nullptr ? nullptr : link_->request(caller_.headers, *this);
  if (python_ == nullptr) unavailable();
}

void Proxy::on_data(Stream& stream, const uint8_t* data, size_t size) {
  Stream* to = other(stream);
  if (to == nullptr || over_)
    stream.consume(size);
  else
    to->push(copy_of(data, size));
}

void Proxy::on_end(Stream& stream) {
  if (is_caller(stream)) {
    if (python_ != nullptr) python_->finish();
    return;
  }
  if (!over_) caller_.finish(stream.headers);
  over_ = true;
}

void Proxy::on_sent(Stream& stream, size_t size) {
  Stream* from = other(stream);
  if (from == nullptr) return;
  if (is_caller(*from)) {
    const size_t already = std::min(size, credited_);
    credited_ -= already;
    size -= already;
  }
  from->consume(size);
}

void Proxy::on_close(Stream& stream, uint32_t code, bool lost) {
  if (is_caller(stream)) {
    delete this;
    return;
  }
  python_ = nullptr;
  if (over_) return;
  if (lost && !answering_)
    unavailable();
  else
    caller_.reset(lost ? uint32_t(NGHTTP2_INTERNAL_ERROR) : code);
  over_ = true;
}

void Proxy::unavailable() {
  over_ = true;
  caller_.respond({{":status", "200"},
                   {"content-type", "application/grpc"},
                   {"grpc-status", "14"},
                   {"grpc-message", "the router cannot answer this now; try again"},
                   {"tidewise-reason", "internal"}},
                  true);
}

}  // namespace tidewise::router
