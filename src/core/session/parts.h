#pragma once
// Messages as their parts: an array of {"type": "text", "text": …}, {"type": "file", …} and others.

#include <dormouse/json.h>

#include <cstddef>
#include <string_view>

namespace dormouse::session {

// A message of one text: [{"type": "text", "text": "hello"}].
[[nodiscard]] Json text_parts(std::string_view text);

// The bytes of a message's text: its text parts, joined by a newline. Files have none.
[[nodiscard]] std::size_t text_bytes(Json const& parts);

}  // namespace dormouse::session
