// The canonical form, which receipts digest. Texts of equal values give equal bytes.
//
// Objects and strings: RFC 8785 (members sorted by the UTF-16 code units of their keys, no space,
// fewest escapes). Numbers: the layout of RFC 8785 (ECMAScript's Number::toString), with
//   - the exact digits, if the number is an integer, however large. Up to 2^53, and for every
//     number that ECMAScript would have printed, this is what RFC 8785 says; 9007199254740993 stays
//     itself, where RFC 8785 would have rounded it. 1e21 and 1000000000000000000000 are one
//     value: "1e+21".
//   - the shortest digits of the nearest double, if it has a fraction, as RFC 8785 says.
// So equal integers are equal texts, unequal integers are unequal texts, and -0 is 0.

#include "base/text/chars.h"
#include "json/json.h"
#include "json/spell.h"

#include <algorithm>
#include <functional>
#include <list>
#include <vector>

namespace dormouse::json {

namespace {

struct Member {
    std::string_view key;  // decoded
    View value;
};

// UTF-8 sorts by code point. UTF-16 sorts characters beyond U+FFFF (surrogates, from D800) before
// U+E000 to U+FFFF, whose first byte in UTF-8 is EE or EF. Otherwise the orders agree.
unsigned rank(char c) {
    unsigned const byte = static_cast<unsigned char>(c);
    return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
}

bool before_in_utf16(Member const& a, Member const& b) {
    return std::ranges::lexicographical_compare(a.key, b.key, std::less(), rank, rank);
}

// The text is its own canonical form, as for most numbers: no sign, point or exponent, within 2^53.
bool is_plain_integer(std::string_view text) {
    return text.size() <= 15 && std::ranges::all_of(text, is_digit);
}

void append_number(std::string& out, std::string_view text) {
    if (is_plain_integer(text)) {
        out += text;
        return;
    }
    Decimal const exact = parse_decimal(text);
    if (exact.is_integer()) {
        append_decimal(out, exact);
    } else {
        append_double(out, to_double(text));
    }
}

void append_string(std::string& out, View value) {
    std::string_view const raw = value.raw();
    if (raw.find('\\') == std::string_view::npos) {
        out += raw;
    } else {
        append_quoted(out, *value.string());
    }
}

// Recursion is bounded by depth_max.
void append_value(std::string& out, View value);

void append_array(std::string& out, View array) {
    out += '[';
    bool first = true;
    array.elements([&](View element) {
        out += first ? "" : ",";
        first = false;
        append_value(out, element);
    });
    out += ']';
}

void append_object(std::string& out, View object) {
    std::vector<Member> members;
    members.reserve(8);
    std::list<std::string> decoded;  // holds the keys that have escapes
    std::string_view const text = object.raw();
    object.members([&](std::string_view key, View value) {
        bool const in_text = !std::less<>()(key.data(), text.data()) &&
                             std::less<>()(key.data(), text.data() + text.size());
        members.push_back({in_text ? key : decoded.emplace_back(key), value});
    });
    std::ranges::sort(members, before_in_utf16);
    out += '{';
    bool first = true;
    for (Member const& member : members) {
        out += first ? "" : ",";
        first = false;
        append_quoted(out, member.key);
        out += ':';
        append_value(out, member.value);
    }
    out += '}';
}

void append_value(std::string& out, View value) {
    switch (value.kind()) {
        case Kind::null:
        case Kind::boolean: out += value.raw(); return;
        case Kind::number: append_number(out, value.raw()); return;
        case Kind::string: append_string(out, value); return;
        case Kind::array: append_array(out, value); return;
        case Kind::object: append_object(out, value); return;
    }
}

}  // namespace

std::string canonical(Json const& value) {
    std::string out;
    out.reserve(value.size());
    append_value(out, View(value));
    return out;
}

std::string canonical_object(std::string_view name, Json const& value) {
    if (value.is_null()) {
        return "{}";
    }
    std::string out = "{";
    append_quoted(out, name);
    out += ':';
    append_value(out, View(value));
    out += '}';
    return out;
}

}  // namespace dormouse::json
