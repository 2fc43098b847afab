#pragma once
// Rules for names. Pure.

#include "base/text/chars.h"

#include <cstddef>
#include <string_view>

namespace dormouse {

// 1 to 64 letters, digits and characters of `more`.
[[nodiscard]] constexpr bool is_short_name(std::string_view text, std::string_view more = "_.-") {
    constexpr std::size_t bytes_max = 64;
    return !text.empty() && text.size() <= bytes_max && is_made_of(text, more);
}

// The name of a tool of a client: [A-Za-z0-9_.:/-]{1,128}.
[[nodiscard]] constexpr bool is_tool_name(std::string_view text) {
    constexpr std::size_t bytes_max = 128;
    return !text.empty() && text.size() <= bytes_max && is_made_of(text, "_.:/-");
}

// A token of HTTP: the name of a header, a part of a media type (RFC 9110, 5.6.2).
[[nodiscard]] constexpr bool is_http_token(std::string_view text) {
    return !text.empty() && is_made_of(text, "!#$%&'*+-.^_`|~");
}

}  // namespace dormouse
