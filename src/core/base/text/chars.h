#pragma once
// Classes of ASCII characters. No byte of another character belongs to one; no locale matters.

#include <algorithm>
#include <string_view>

namespace dormouse {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_lower_letter(char c) { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_upper_letter(char c) { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_letter(char c) { return is_lower_letter(c) || is_upper_letter(c); }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
[[nodiscard]] constexpr bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

[[nodiscard]] constexpr char lower_case(char c) {
    return is_upper_letter(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

// Returns true if each character is a letter, a digit or one of `more`. This is true for an empty
// text.
[[nodiscard]] constexpr bool is_made_of(std::string_view text, std::string_view more) {
    return std::ranges::all_of(
        text, [more](char c) { return is_letter_or_digit(c) || more.contains(c); });
}

// Returns true if the text can be the name of a variable of the environment: letters, digits and
// '_', not beginning with a digit.
[[nodiscard]] constexpr bool is_variable_name(std::string_view text) {
    return !text.empty() && !is_digit(text.front()) && is_made_of(text, "_");
}

}  // namespace dormouse
