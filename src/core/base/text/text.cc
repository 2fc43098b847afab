#include "base/text/text.h"

#include "base/check.h"
#include "base/text/append.h"
#include "base/text/chars.h"
#include "base/text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace dormouse {

namespace {

constexpr std::string_view base64url_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> base64url_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::size_t i = 0; i < base64url_digits.size(); ++i) {
        values[static_cast<std::uint8_t>(base64url_digits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}();

// Characters that a terminal interprets or does not show: Unicode controls, line and paragraph
// separators, bidirectional and other format controls, and characters that are invisible by
// default, including those reserved for more of them. Variation selectors 1 to 16 are allowed:
// emoji in ordinary text have them.
bool unsafe(char32_t code) {
    if ((code >= 0x20 && code < 0x7F) || (code >= 0xFE00 && code <= 0xFE0F)) return false;
    bool const reserved = code == 0x2065 || (code >= 0xFFF0 && code <= 0xFFF8) ||
                          (code >= 0xE0000 && code <= 0xE0FFF);
    auto const& character = *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
    auto const part = character.boundclass;
    return reserved || character.ignorable != 0 || part == UTF8PROC_BOUNDCLASS_CONTROL ||
           part == UTF8PROC_BOUNDCLASS_CR || part == UTF8PROC_BOUNDCLASS_LF;
}

void append_escape(std::string& out, std::string_view opening, std::uint32_t number) {
    std::array<char, 8> digits;
    auto const end = std::to_chars(digits.begin(), digits.end(), number, 16).ptr;
    out.append(opening).append(digits.begin(), end).push_back('}');
}

// Plain pointers: this runs several times for each event.
void write_base64url(char* out, std::uint8_t const* in, std::size_t size) {
    char const* const digits = base64url_digits.data();
    for (; size >= 3; size -= 3, in += 3, out += 4) {
        std::uint32_t const bits =
            std::uint32_t{in[0]} << 16 | std::uint32_t{in[1]} << 8 | std::uint32_t{in[2]};
        out[0] = digits[bits >> 18];
        out[1] = digits[bits >> 12 & 0x3F];
        out[2] = digits[bits >> 6 & 0x3F];
        out[3] = digits[bits & 0x3F];
    }
    if (size == 0) return;
    std::uint32_t const bits = std::uint32_t{in[0]} << 16 | (size == 2 ? in[1] << 8U : 0U);
    out[0] = digits[bits >> 18];
    out[1] = digits[bits >> 12 & 0x3F];
    if (size == 2) out[2] = digits[bits >> 6 & 0x3F];
}

// Longer text is not a misspelling of our names. Bounds the work for text from outside.
constexpr std::size_t word_max = 64;

// Number of insertions, deletions, replacements and swaps of neighbours from `a` to `b`, ignoring
// case. REQUIRES: both at most word_max long.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    CHECK(a.size() <= word_max && b.size() <= word_max);
    using Row = std::array<std::size_t, word_max + 1>;
    Row before{};
    Row above{};
    Row row{};
    for (std::size_t j = 0; j <= b.size(); ++j) {
        above[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            bool const same = lower_case(a[i - 1]) == lower_case(b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0u : 1u)});
            if (i > 1 && j > 1 && lower_case(a[i - 1]) == lower_case(b[j - 2]) &&
                lower_case(a[i - 2]) == lower_case(b[j - 1])) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before = above;
        above = row;
    }
    return above[b.size()];
}

// Allowed typing errors for a word of this length; in a very short word any change makes another
// word.
std::size_t slips(std::size_t length) {
    return length < 3 ? 0 : length < 6 ? 1 : length < 9 ? 2 : 3;
}

}  // namespace

std::string base64url(std::span<std::uint8_t const> bytes) {
    std::string text;
    append_base64url(text, bytes);
    return text;
}

void append_base64url(std::string& text, std::span<std::uint8_t const> bytes) {
    std::size_t const start = text.size();
    std::size_t const size = start + (bytes.size() * 4 + 2) / 3;
    // Some libraries pass the capacity as the size.
    text.resize_and_overwrite(size, [&](char* buffer, std::size_t /*size*/) {
        write_base64url(buffer + start, bytes.data(), bytes.size());
        return size;
    });
}

std::string base64(std::span<std::uint8_t const> bytes) {
    std::string text = base64url(bytes);
    for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

std::optional<std::string> parse_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::size_t const padding = text.size() - (text.find_last_not_of('=') + 1);
    if (padding > 2) return std::nullopt;
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (char const c : text.substr(0, text.size() - padding)) {
        char const url = c == '+' ? '-' : c == '/' ? '_' : c;
        std::uint8_t const value = base64url_values[static_cast<std::uint8_t>(url)];
        if (value == no_digit || c == '-' || c == '_') return std::nullopt;
        bits = (bits << 6 | value) & 0xFFFF;
        if (held += 6; held < 8) continue;
        held -= 8;
        bytes.push_back(static_cast<char>(bits >> held & 0xFF));
    }
    bool const clean = (bits & ((1U << held) - 1)) == 0;
    return clean ? std::optional(std::move(bytes)) : std::nullopt;
}

std::optional<Bits128> parse_base64url_128(std::string_view text) {
    if (text.size() != 22) {
        return std::nullopt;
    }
    Bits128 bytes;
    std::size_t filled = 0;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (char const c : text) {
        std::uint8_t const value = base64url_values[static_cast<std::uint8_t>(c)];
        if (value == no_digit) {
            return std::nullopt;
        }
        bits = (bits << 6 | value) & 0xFFFF;
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes[filled++] = static_cast<std::uint8_t>(bits >> held & 0xFF);
        }
    }
    // 22 digits hold 132 bits; the last four must be zero, or one id would have sixteen spellings.
    return (bits & 0xF) == 0 ? std::optional(bytes) : std::nullopt;
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = lower_case(c);
    return out;
}

bool is_lower_case_of(std::string_view lower, std::string_view text) {
    return std::ranges::equal(lower, text, {}, {}, [](char c) { return lower_case(c); });
}

void append_number(std::string& text, std::uint64_t number) {
    std::array<char, 20> digits;
    char const* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

std::string hex(std::span<std::uint8_t const> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(bytes.size() * 2, '\0');
    char* out = text.data();
    for (std::uint8_t const byte : bytes) {
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 0xF];
    }
    return text;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    if (text.empty() || (text[0] == '0' && text.size() > 1)) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    char const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<Duration> parse_duration(std::string_view text) {
    auto const digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || digits > 9) return std::nullopt;
    auto const parsed = parse_number(text.substr(0, digits));
    if (!parsed) return std::nullopt;
    auto const number = static_cast<std::int64_t>(*parsed);
    std::string_view const unit = text.substr(digits);
    if (unit == "ms") return Duration(number);
    if (unit == "s") return Duration(number * 1'000);
    if (unit == "m") return Duration(number * 60'000);
    if (unit == "h") return Duration(number * 3'600'000);
    if (unit == "d") return Duration(number * 86'400'000);
    return std::nullopt;
}

bool valid_utf8(std::string_view text) {
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    while (!text.empty()) {
        std::uint64_t eight = high_bits;
        if (text.size() >= sizeof eight) {
            std::memcpy(&eight, text.data(), sizeof eight);
        }
        if ((eight & high_bits) == 0) {
            text.remove_prefix(sizeof eight);
            continue;
        }
        Utf8 const next = decode_utf8(text);
        if (!next.valid) {
            return false;
        }
        text.remove_prefix(next.length);
    }
    return true;
}

std::string escape_for_terminal(std::string_view text, bool keep_newlines) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        Utf8 const next = decode_utf8(text);
        std::string_view const bytes = text.substr(0, next.length);
        bool const layout = keep_newlines && (next.code == '\n' || next.code == '\t');
        if (!next.valid) {
            for (char const byte : bytes) {
                append_escape(out, "\\x{", static_cast<std::uint8_t>(byte));
            }
        } else if (unsafe(next.code) && !layout) {
            append_escape(out, "\\u{", next.code);
        } else {
            out.append(bytes);
        }
        text.remove_prefix(next.length);
    }
    return out;
}

std::string_view nearest(std::string_view word, std::span<std::string_view const> candidates) {
    if (word.size() > word_max) {
        return {};
    }
    std::string_view best;
    std::size_t best_distance = slips(word.size()) + 1;
    for (std::string_view const candidate : candidates) {
        if (candidate.size() > word_max) {
            continue;
        }
        std::size_t const distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace dormouse
