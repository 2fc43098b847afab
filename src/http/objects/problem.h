#pragma once
// Errors as application/problem+json (RFC 9457) with stable codes.

#include "http/transport/http.h"

namespace dormouse::http {

// Writes {"type","title","status","code","detail","instance","next","retryAfter","requestID", and
// the error's extra members}. retryAfter is in ms, null when waiting does not help; the header
// Retry-After has the same in whole seconds.
[[nodiscard]] HttpReply problem_reply(Error const& error, HttpRequest const& request);

}  // namespace dormouse::http
