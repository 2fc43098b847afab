#pragma once
// Cuts texts of agents for people. Example: whole_characters("aä", 2) is "a".

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse::acp {

// Returns at most `most` bytes, without half a character at the end.
[[nodiscard]] inline std::string whole_characters(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    text.resize(most);
    return text;
}

// Returns the text without white space around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view white = " \t\r\n";
    auto const begin = text.find_first_not_of(white);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

}  // namespace dormouse::acp
