#pragma once
// Text that is appended to other text, so that the whole has its memory once.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dormouse {

void append_base64url(std::string& text, std::span<std::uint8_t const> bytes);  // without padding
void append_number(std::string& text, std::uint64_t number);                    // decimal

// Returns true if lower_case(text) is `lower`.
[[nodiscard]] bool is_lower_case_of(std::string_view lower, std::string_view text);

}  // namespace dormouse
