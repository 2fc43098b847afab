#pragma once
// The bytes of a reply.

#include "http/transport/http.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::server {

struct Framing {
    bool head_only = false;  // an answer to HEAD: the length is told, the body is not sent
    bool close = false;      // the connection ends after it
    bool http_1_0 = false;   // keep-alive has to be said aloud
    std::string_view date;   // IMF-fixdate, as in RFC 9110 §5.6.7
};

// Appends head and body to `out`. A header that would break out of its line is left out;
// Cache-Control and X-Content-Type-Options are added unless `reply` brings its own.
void append_reply(std::string& out, HttpReply const& reply, Framing const& framing);

// The head of an event stream; its end is the end of the connection.
[[nodiscard]] std::string stream_head(
    std::vector<std::pair<std::string, std::string>> const& headers, std::string_view date);

// "Sat, 21 Nov 2026 22:20:51 GMT".
[[nodiscard]] std::string http_date(Time time);

}  // namespace dormouse::server
