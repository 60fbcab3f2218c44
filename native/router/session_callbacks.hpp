#pragma once
#include <nghttp2/nghttp2.h>

#include <cstdint>

namespace tidewise::router {

constexpr uint32_t kHeaderBytes = 32 * 1024;  // of one header block

/// What libnghttp2 calls for every session; the session is its user data.
nghttp2_session_callbacks* session_callbacks();

}  // namespace tidewise::router
