#pragma once
// UTF-8 (RFC 3629), one character at a time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse {

struct Utf8 {
    char32_t code = U'\uFFFD';
    std::uint8_t length = 1;  // bytes taken; if invalid, those replaced by one U+FFFD
    bool valid = false;
};

// The first character of `text`. REQUIRES: `text` is not empty. An ill-formed sequence takes its
// longest prefix that could have become a character (Unicode 15, 3.9, "maximal subpart"), at
// least one byte.
[[nodiscard]] Utf8 decode_utf8(std::string_view text);

// REQUIRES: `code` is a Unicode scalar value.
void append_utf8(std::string& out, char32_t code);

// The longest prefix of at most `bytes` bytes that does not split a character.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t bytes);
// The longest suffix of at most `bytes` bytes that does not split a character.
[[nodiscard]] std::string_view tail_utf8(std::string_view text, std::size_t bytes);
// Like cut_utf8(), but returns at least one character, to take a text apart. The result is empty
// only for an empty text.
[[nodiscard]] std::string_view piece_utf8(std::string_view text, std::size_t bytes);
// Number of characters of well-formed text.
[[nodiscard]] std::size_t count_utf8(std::string_view text);

// Replaces each ill-formed sequence by U+FFFD.
[[nodiscard]] std::string repaired_utf8(std::string text);

}  // namespace dormouse
