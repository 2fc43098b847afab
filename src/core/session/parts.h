#pragma once
// Messages as their parts: an array of {"type": "text", "text": …}, {"type": "file", …} and others.

#include <dormouse/json.h>

#include <string_view>

namespace dormouse::session {

// A message of one text: [{"type": "text", "text": "hello"}].
[[nodiscard]] Json text_parts(std::string_view text);

}  // namespace dormouse::session
