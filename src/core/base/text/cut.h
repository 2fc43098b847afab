#pragma once
// Shorter forms of a text. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse {

// The text without spaces, tabs and line breaks around it. Example: trimmed(" a\n") is "a".
[[nodiscard]] std::string_view trimmed(std::string_view text);
// The text if it has at most `bytes` bytes; else its beginning, at most `bytes` long and without a
// split character, and then `mark`.
[[nodiscard]] std::string cut_with_mark(std::string_view text, std::size_t bytes,
                                        std::string_view mark = "…");

}  // namespace dormouse
