#pragma once
// Writes the bytes of a reply.

#include "http/transport/http.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::http {

struct Framing {
    bool head_only = false;  // a reply to HEAD: has the length, but no body
    bool close = false;      // the connection ends after the reply
    bool http_1_0 = false;   // keep-alive must be stated
    std::string_view date;   // IMF-fixdate, as in RFC 9110 §5.6.7
};

// Appends head and body to `out`. Omits headers whose value would break out of its line; adds
// Cache-Control and X-Content-Type-Options unless `reply` has its own.
void append_reply(std::string& out, HttpReply const& reply, Framing const& framing);

// Returns the head of an event stream, which ends with the connection.
[[nodiscard]] std::string stream_head(
    std::vector<std::pair<std::string, std::string>> const& headers, std::string_view date);

// Formats "Sat, 21 Nov 2026 22:20:51 GMT".
[[nodiscard]] std::string http_date(Time time);

}  // namespace dormouse::http
