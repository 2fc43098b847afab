#include "json/spell.h"

#include "base/check.h"
#include "base/text/utf8.h"
#include "json/swar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace dormouse::json {

namespace {

bool must_escape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

std::size_t plain_at_front(EightBytes const& eight) {
    return EightBytes::first(eight.equal('"') | eight.equal('\\') | eight.below(0x20) |
                             eight.not_ascii());
}

// Four to seven plain bytes, as most names of members: their first and their last four are looked
// at together.
bool is_short_and_plain(char const* p, char const* end) {
    if (end - p < 4 || end - p > 7) {
        return false;
    }
    std::array<char, 8> halves;
    std::memcpy(halves.data(), p, 4);
    std::memcpy(halves.data() + 4, end - 4, 4);
    return plain_at_front(EightBytes(halves.data())) == 8;
}

// The first byte that is not printable ASCII or must be escaped.
char const* end_of_plain_run(char const* p, char const* end) {
    if (is_short_and_plain(p, end)) {
        return end;
    }
    bool const overlaps = end - p > 8;
    while (end - p >= 8) {
        std::size_t const first = plain_at_front(EightBytes(p));
        p += first;
        if (first < 8) {
            return p;
        }
    }
    if (overlaps) {  // the last eight bytes, of which the first are known to be plain
        return end - 8 + plain_at_front(EightBytes(end - 8));
    }
    while (p < end && !must_escape(*p) && (*p & 0x80) == 0) {
        ++p;
    }
    return p;
}

// Bytes that are compared at once, as signed numbers: those that are not ASCII are negative.
constexpr std::ptrdiff_t sixteen = 16;
using SixteenBytes [[gnu::vector_size(sixteen)]] = std::int8_t;

bool are_sixteen_plain(char const* p) {
    SixteenBytes bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    SixteenBytes const not_plain = (bytes < 0x20) | (bytes == '"') | (bytes == '\\');
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), &not_plain, sizeof not_plain);
    return (halves[0] | halves[1]) == 0;
}

void append_escaped(std::string& out, char c) {
    constexpr std::string_view hex_digits = "0123456789abcdef";
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    auto const byte = static_cast<unsigned char>(c);
    out += "\\u00";
    out += hex_digits[byte >> 4];
    out += hex_digits[byte & 0xF];
}

// Does the work of append_quoted_between; `p` is the first byte that is not plain.
void append_escaped_between(std::string& out, char before, std::string_view text, char after,
                            char const* p) {
    char const* run = text.data();
    char const* const end = run + text.size();
    if (before != nothing) out += before;
    out += '"';
    for (; p < end; p = end_of_plain_run(p, end)) {
        if (must_escape(*p)) {
            out.append(run, p);
            append_escaped(out, *p);
            run = ++p;
            continue;
        }
        Utf8 const next = decode_utf8({p, end});
        if (!next.valid) {
            out.append(run, p).append("\uFFFD");
            run = p + next.length;
        }
        p += next.length;
    }
    out.append(run, p).push_back('"');
    if (after != nothing) out += after;
}

char32_t hex4(std::string_view digits) {
    std::uint16_t unit = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    return unit;
}

// Decodes one escape at the front of `body`, which begins after the backslash.
void take_escape(std::string& out, std::string_view& body) {
    char const c = body.front();
    body.remove_prefix(1);
    switch (c) {
        case 'b': out += '\b'; return;
        case 'f': out += '\f'; return;
        case 'n': out += '\n'; return;
        case 'r': out += '\r'; return;
        case 't': out += '\t'; return;
        case 'u': break;
        default: out += c; return;
    }
    char32_t code = hex4(body.substr(0, 4));
    body.remove_prefix(std::min<std::size_t>(4, body.size()));
    bool const high_surrogate = 0xD800 <= code && code < 0xDC00;
    if (high_surrogate && body.size() >= 6) {
        code = 0x10000 + ((code - 0xD800) << 10) + (hex4(body.substr(2, 4)) - 0xDC00);
        body.remove_prefix(6);
    }
    append_utf8(out, code);
}

// A larger exponent exceeds every double, and the digits of no text in memory could compensate it.
constexpr std::int64_t exponent_max = std::int64_t{1} << 48;

std::int64_t parse_exponent(std::string_view text) {
    bool const negative = text.starts_with('-');
    if (negative || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    std::int64_t exponent = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc() || exponent > exponent_max) {
        exponent = exponent_max;
    }
    return negative ? -exponent : exponent;
}

}  // namespace

bool is_plain(std::string_view text) {
    char const* p = text.data();
    char const* const end = p + text.size();
    if (text.size() < sixteen) return end_of_plain_run(p, end) == end;
    bool plain = are_sixteen_plain(end - sixteen);  // may overlap those before
    for (; plain && end - p > sixteen; p += sixteen) plain = are_sixteen_plain(p);
    return plain;
}

void append_quoted(std::string& out, std::string_view text) {
    append_quoted_between(out, nothing, text, nothing);
}

void append_quoted_between(std::string& out, char before, std::string_view text, char after) {
    char const* run = text.data();
    char const* const end = run + text.size();
    char const* p = end_of_plain_run(run, end);
    if (p == end) {  // nearly all texts: room is made once
        std::size_t const start = out.size();
        std::size_t const around = 2UL + (before != nothing ? 1 : 0) + (after != nothing ? 1 : 0);
        std::size_t const size = start + text.size() + around;
        // Some libraries pass the capacity as the size.
        out.resize_and_overwrite(size, [&](char* buffer, std::size_t /*size*/) {
            char* to = buffer + start;
            if (before != nothing) *to++ = before;
            *to++ = '"';
            to = std::copy(run, end, to);
            *to++ = '"';
            if (after != nothing) *to = after;
            return size;
        });
        return;
    }
    append_escaped_between(out, before, text, after, p);
}

std::string unescape(std::string_view body) {
    std::string out;
    out.reserve(body.size());
    while (!body.empty()) {
        std::size_t const backslash = std::min(body.find('\\'), body.size());
        out.append(body.substr(0, backslash));
        body.remove_prefix(backslash);
        if (body.size() >= 2) {
            body.remove_prefix(1);
            take_escape(out, body);
        } else {
            body = {};
        }
    }
    return out;
}

Decimal parse_decimal(std::string_view text) {
    Decimal number;
    number.negative = text.starts_with('-');
    text.remove_prefix(number.negative ? 1 : 0);
    std::size_t const e = std::min(text.find_first_of("eE"), text.size());
    std::string_view const mantissa = text.substr(0, e);
    std::size_t const dot = std::min(mantissa.find('.'), mantissa.size());
    number.digits.reserve(mantissa.size());
    number.digits.append(mantissa.substr(0, dot));
    if (dot < mantissa.size()) {
        number.digits.append(mantissa.substr(dot + 1));
    }
    std::size_t const last = number.digits.find_last_not_of('0');
    if (last == std::string::npos) {
        return Decimal{number.negative, {}, 0};
    }
    std::size_t const first = number.digits.find_first_not_of('0');
    number.point = static_cast<std::int64_t>(dot) - static_cast<std::int64_t>(first);
    if (e < text.size()) {
        number.point += parse_exponent(text.substr(e + 1));
    }
    number.digits.erase(last + 1);
    number.digits.erase(0, first);
    return number;
}

double to_double(std::string_view text) {
    double number = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc()) {
        return number;
    }
    // from_chars reports numbers that are too small as "out of range", too.
    Decimal const exact = parse_decimal(text);
    bool const too_large = !exact.digits.empty() && exact.point > 0;
    double const size = too_large ? std::numeric_limits<double>::infinity() : 0.0;
    return exact.negative ? -size : size;
}

void append_decimal(std::string& out, Decimal const& number) {
    std::string_view const digits = number.digits;
    if (digits.empty()) {
        out += '0';
        return;
    }
    if (number.negative) {
        out += '-';
    }
    auto const count = static_cast<std::int64_t>(digits.size());
    std::int64_t const point = number.point;
    if (count <= point && point <= 21) {
        out.append(digits).append(static_cast<std::size_t>(point - count), '0');
    } else if (0 < point && point <= 21) {
        auto const whole = static_cast<std::size_t>(point);
        out.append(digits.substr(0, whole)).append(".").append(digits.substr(whole));
    } else if (-6 < point && point <= 0) {
        out.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
    } else {
        out += digits[0];
        if (count > 1) {
            out.append(".").append(digits.substr(1));
        }
        out.append(point > 0 ? "e+" : "e-");
        out.append(std::to_string(point > 0 ? point - 1 : 1 - point));
    }
}

void append_double(std::string& out, double number) {
    CHECK(std::isfinite(number));
    std::array<char, 32> shortest;  // the longest is like -1.2345678901234567e-308
    // Here the shortest digits and the positional form are the same.
    double const size = std::abs(number);
    if (1e-6 <= size && size < 9007199254740992.0) {
        out.append(
            shortest.begin(),
            std::to_chars(shortest.begin(), shortest.end(), number, std::chars_format::fixed).ptr);
        return;
    }
    auto const end =
        std::to_chars(shortest.begin(), shortest.end(), number, std::chars_format::scientific).ptr;
    append_decimal(out, parse_decimal({shortest.begin(), end}));
}

}  // namespace dormouse::json
