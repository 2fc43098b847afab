#pragma once
// The target of a request line (RFC 9112 §3.2) and the escapes in it (RFC 3986 §2.1), read
// strictly.

#include <dormouse/error.h>

#include "http/transport/http.h"

#include <string_view>

namespace dormouse::server {

// Fills path, segments and query of `request`. `host` is the value of its Host header: an absolute
// target has to name the same authority. Errors: bad_value (bad escape, NUL or control character in
// the path, "." and ".." segments, bytes outside ASCII, a fragment, another authority).
[[nodiscard]] Result<void> read_target(std::string_view target, std::string_view host,
                                       HttpRequest& request);

// Whether `host` has the form of a Host header: a name or address and perhaps a port, nothing else.
[[nodiscard]] bool valid_host(std::string_view host);

}  // namespace dormouse::server
