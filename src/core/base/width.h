#pragma once
// How many columns of a terminal a text takes. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse {

// 0 for what joins the character before it, 2 for East Asian wide characters and emoji, else 1.
[[nodiscard]] std::size_t width(char32_t code);
// The sum over its characters. REQUIRES: no control characters (escape_for_terminal() came first).
[[nodiscard]] std::size_t width(std::string_view text);
// At most `columns` wide, with … where something was left out. Characters are not torn.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

}  // namespace dormouse
