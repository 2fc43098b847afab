#pragma once
// Small conversions between bytes and text.

#include <dormouse/id.h>
#include <dormouse/time.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dormouse {

[[nodiscard]] std::string base64url(std::span<std::uint8_t const> bytes);  // without padding
[[nodiscard]] std::string base64(std::span<std::uint8_t const> bytes);     // with padding
// The bytes; nullopt unless `text` is base64 with padding and nothing else.
[[nodiscard]] std::optional<std::string> parse_base64(std::string_view text);
// nullopt unless `text` is the 22 characters of 16 bytes in canonical form.
[[nodiscard]] std::optional<Bits128> parse_base64url_128(std::string_view text);
[[nodiscard]] std::string hex(std::span<std::uint8_t const> bytes);  // lower case
[[nodiscard]] std::string lower_case(std::string_view text);         // ASCII letters only
// A decimal number without sign, leading zeros or overflow of 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);
// "250ms", "5s", "3m", "2h", "1d"; nullopt: any other form.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);
[[nodiscard]] bool valid_utf8(std::string_view text);
// Writes control, bidirectional and other invisible characters as \u{…}: safe for a terminal.
[[nodiscard]] std::string escape_for_terminal(std::string_view text, bool keep_newlines = false);
// The candidate nearest to `word` by edit distance, if it is a likely typing error; else empty.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<std::string_view const> candidates);

}  // namespace dormouse
