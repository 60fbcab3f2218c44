// How gRPC begins and ends an answer.
#pragma once
#include "headers.hpp"
#include "reason.hpp"

namespace tidewise::router {

/// What every answer begins with.
const Headers& answer_headers();
/// What a failed one ends with.
Headers status_headers(const Failure& failure);

}  // namespace tidewise::router
