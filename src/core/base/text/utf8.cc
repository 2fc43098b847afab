#include "base/text/utf8.h"

#include "base/check.h"

#include <algorithm>

namespace dormouse {

namespace {

struct Lead {
    std::uint8_t length;     // of the whole sequence; 0: no sequence begins with this byte
    std::uint8_t low, high;  // range of the second byte: excludes overlong forms and surrogates
    std::uint8_t bits;       // bits of the character in the lead byte
};

Lead lead(std::uint8_t byte) {
    if (byte < 0xC2 || byte > 0xF4) {
        return {0, 0, 0, 0};
    }
    if (byte < 0xE0) {
        return {2, 0x80, 0xBF, static_cast<std::uint8_t>(byte & 0x1F)};
    }
    if (byte < 0xF0) {
        std::uint8_t const low = byte == 0xE0 ? 0xA0 : 0x80;
        std::uint8_t const high = byte == 0xED ? 0x9F : 0xBF;
        return {3, low, high, static_cast<std::uint8_t>(byte & 0x0F)};
    }
    std::uint8_t const low = byte == 0xF0 ? 0x90 : 0x80;
    std::uint8_t const high = byte == 0xF4 ? 0x8F : 0xBF;
    return {4, low, high, static_cast<std::uint8_t>(byte & 0x07)};
}

// Returns true if the byte is one of a character, but not its first one.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

Utf8 decode_utf8(std::string_view text) {
    CHECK(!text.empty());
    auto const first = static_cast<std::uint8_t>(text[0]);
    if (first < 0x80) {
        return {first, 1, true};
    }
    Lead const head = lead(first);
    if (head.length == 0) {
        return {};
    }
    char32_t code = head.bits;
    for (std::uint8_t i = 1; i < head.length; ++i) {
        auto const byte = i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
        std::uint8_t const low = i == 1 ? head.low : 0x80;
        std::uint8_t const high = i == 1 ? head.high : 0xBF;
        if (byte < low || byte > high) {
            return {U'\uFFFD', i, false};
        }
        code = code << 6 | (byte & 0x3Fu);
    }
    return {code, head.length, true};
}

void append_utf8(std::string& out, char32_t code) {
    CHECK(code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF));
    auto const put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

std::string repaired_utf8(std::string text) {
    std::string out;
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size();) {
        Utf8 const next = decode_utf8(std::string_view(text).substr(i));
        if (!next.valid) {
            out.append(text, copied, i - copied).append("\uFFFD");
            copied = i + next.length;
        }
        i += next.length;
    }
    if (copied == 0) return text;
    return out.append(text, copied);
}

std::size_t count_utf8(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues));
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && continues(text[bytes])) --bytes;
    return text.substr(0, bytes);
}

std::string_view tail_utf8(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    std::size_t begin = text.size() - bytes;
    while (begin < text.size() && continues(text[begin])) ++begin;
    return text.substr(begin);
}

std::string_view piece_utf8(std::string_view text, std::size_t bytes) {
    auto const piece = cut_utf8(text, bytes);
    if (!piece.empty() || text.empty()) return piece;
    std::size_t end = 1;
    while (end < text.size() && continues(text[end])) ++end;
    return text.substr(0, end);
}

}  // namespace dormouse
