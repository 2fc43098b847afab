#pragma once
// Text forms of strings and numbers in JSON, for the writer, the view and the canonical form.

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::json {

// Appends `text` in quotes, escaped as RFC 8785, 3.2.2.2 says: only quote, backslash and the C0
// controls. Each ill-formed UTF-8 sequence becomes U+FFFD.
void append_quoted(std::string& out, std::string_view text);
// Returns true if append_quoted appends the text unchanged. Then all bytes are ASCII.
[[nodiscard]] bool is_plain(std::string_view text);
// The same between two other characters; `nothing` is none.
inline constexpr char nothing = 0;
void append_quoted_between(std::string& out, char before, std::string_view text, char after);

// Decodes the body of a valid JSON string (between its quotes) into UTF-8.
[[nodiscard]] std::string unescape(std::string_view body);

// An exact decimal number: 0.DIGITS times 10^point.
struct Decimal {
    bool negative = false;
    std::string digits = {};  // without zeros at either end; empty: zero
    std::int64_t point = 0;

    [[nodiscard]] bool is_integer() const {
        return point >= static_cast<std::int64_t>(digits.size());
    }
};

// REQUIRES: `text` is a number by the grammar of RFC 8259.
[[nodiscard]] Decimal parse_decimal(std::string_view text);

// The nearest double; infinite if the number is too large. REQUIRES: as parse_decimal.
[[nodiscard]] double to_double(std::string_view text);

// Formats the number as ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20), with these digits;
// minus zero is "0".
void append_decimal(std::string& out, Decimal const& number);

// ECMAScript's Number::toString. REQUIRES: `number` is finite (CHECK).
void append_double(std::string& out, double number);

}  // namespace dormouse::json
