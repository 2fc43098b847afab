#pragma once
// Helpers for texts of agents. Example: trimmed(" a\n") is "a".

#include <string_view>

namespace dormouse::acp {

// Returns the text without white space around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view white = " \t\r\n";
    auto const begin = text.find_first_not_of(white);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

}  // namespace dormouse::acp
