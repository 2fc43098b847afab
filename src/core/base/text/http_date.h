#pragma once
// Times as HTTP writes them in Date and Retry-After (RFC 9110, IMF-fixdate). Pure.

#include <dormouse/time.h>

#include <optional>
#include <string_view>

namespace dormouse {

// Parses "Sun, 06 Nov 1994 08:49:37 GMT"; nullopt: `text` is no such time.
[[nodiscard]] std::optional<Time> parse_http_date(std::string_view text);

}  // namespace dormouse
