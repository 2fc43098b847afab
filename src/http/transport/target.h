#pragma once
// Parses the target of a request line (RFC 9112 §3.2) and its escapes (RFC 3986 §2.1) strictly.

#include <dormouse/error.h>

#include "http/transport/http.h"

#include <string_view>

namespace dormouse::http {

// Fills path, segments and query of `request`. `host` is its Host header: an absolute target must
// name the same authority. Errors: bad_value (bad escape, NUL or control character in the path, "."
// and ".." segments, bytes outside ASCII, a fragment, another authority).
[[nodiscard]] Result<void> read_target(std::string_view target, std::string_view host,
                                       HttpRequest& request);

// Returns true if `host` is a valid Host header: a name or address and perhaps a port, nothing
// else.
[[nodiscard]] bool valid_host(std::string_view host);

}  // namespace dormouse::http
