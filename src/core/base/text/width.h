#pragma once
// The number of terminal columns of a text. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse {

// 0 for characters that join the one before, 2 for East Asian wide characters and emoji, else 1.
[[nodiscard]] std::size_t width(char32_t code);
// The sum over all characters. REQUIRES: no control characters (see escape_for_terminal()).
[[nodiscard]] std::size_t width(std::string_view text);
// Returns the text at most `columns` wide, with … where text was removed. Does not split
// characters.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

}  // namespace dormouse
