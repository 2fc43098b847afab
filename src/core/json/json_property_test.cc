// Properties over random JSON values: what one component writes, the others read with the same
// meaning.

#include "json/json.h"

#include "base/text/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>

namespace dormouse::json {
namespace {

char32_t random_character(std::mt19937_64& random) {
    constexpr std::u32string_view edges =
        U"\"\\/\b\f\n\r\t\u0000\u001f\u007f\u0080\u07ff\u0800\ud7ff"
        U"\ue000\ufb33\ufffd\uffff\U00010000\U0001F600\U0010FFFF";
    switch (random() % 3) {
        case 0: return edges[random() % edges.size()];
        case 1: return U'a' + static_cast<char32_t>(random() % 4);
        default: return static_cast<char32_t>(random() % 0xD800);
    }
}

std::string random_text(std::mt19937_64& random) {
    std::string text;
    for (std::size_t length = random() % 12; length > 0; --length) {
        append_utf8(text, random_character(random));
    }
    return text;
}

// The same character, as itself or, where the grammar allows it, as an escape.
void spell_character(std::string& out, char32_t code, std::mt19937_64& random) {
    constexpr std::string_view digits = "0123456789abcdefABCDEF";
    auto const unit = [&](char32_t value) {
        out += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) {
            char32_t const nibble = value >> shift & 0xF;
            out += digits[nibble > 9 && random() % 2 == 0 ? nibble + 6 : nibble];
        }
    };
    bool const must = code < 0x20 || code == '"' || code == '\\';
    if (!must && random() % 2 == 0) {
        append_utf8(out, code);
    } else if (code < 0x10000) {
        unit(code);
    } else {
        unit(0xD800 + ((code - 0x10000) >> 10));
        unit(0xDC00 + ((code - 0x10000) & 0x3FF));
    }
}

std::string spell_string(std::string_view text, std::mt19937_64& random) {
    std::string out = "\"";
    while (!text.empty()) {
        Utf8 const next = decode_utf8(text);
        spell_character(out, next.code, random);
        text.remove_prefix(next.length);
    }
    return out + '"';
}

struct Value {
    enum class Type { null, boolean, integer, real, text, array, object } type = Type::null;
    bool boolean = false;
    std::int64_t integer = 0;
    double real = 0;
    std::string text = {};
    std::vector<Value> items = {};
    std::map<std::string, Value> members = {};
};

double random_double(std::mt19937_64& random) {
    double const number = std::bit_cast<double>(random());
    return std::isfinite(number) ? number : 0.5;
}

Value random_value(std::mt19937_64& random, std::size_t depth) {
    Value value;
    value.type = static_cast<Value::Type>(random() % (depth == 0 ? 5 : 7));
    value.boolean = random() % 2 == 0;
    value.integer = static_cast<std::int64_t>(random()) >> random() % 64;
    value.real =
        random() % 2 == 0 ? random_double(random) : static_cast<double>(random() % 1000) / 8;
    value.text = random_text(random);
    std::size_t const count = random() % 5;
    if (value.type == Value::Type::array) {
        for (std::size_t i = 0; i < count; ++i) {
            value.items.push_back(random_value(random, depth - 1));
        }
    } else if (value.type == Value::Type::object) {
        for (std::size_t i = 0; i < count; ++i) {
            value.members.emplace(random_text(random), random_value(random, depth - 1));
        }
    }
    return value;
}

void write(Writer& writer, Value const& value) {
    switch (value.type) {
        case Value::Type::null: writer.null(); return;
        case Value::Type::boolean: writer.value(value.boolean); return;
        case Value::Type::integer: writer.value(value.integer); return;
        case Value::Type::real: writer.value(value.real); return;
        case Value::Type::text: writer.value(value.text); return;
        case Value::Type::array:
            writer.begin_array();
            for (Value const& item : value.items) {
                write(writer, item);
            }
            writer.end_array();
            return;
        case Value::Type::object:
            writer.begin_object();
            for (auto const& [key, member] : value.members) {
                write(writer.key(key), member);
            }
            writer.end_object();
            return;
    }
}

std::string space(std::mt19937_64& random) {
    constexpr std::string_view spaces = " \t\r\n";
    std::string out;
    for (std::size_t count = random() % 3; count > 0; --count) {
        out += spaces[random() % spaces.size()];
    }
    return out;
}

// An integer in another spelling: 1200, 1200.00, 12e2, 1.2E+3.
std::string respell_integer(std::int64_t integer, std::mt19937_64& random) {
    std::string const plain = std::to_string(integer);
    switch (random() % 4) {
        case 0: return plain;
        case 1: return plain + ".00";
        case 2: return integer == 0 ? "0e-3" : plain + "000e-3";
        default: {
            std::size_t const first = plain[0] == '-' ? 2 : 1;
            std::string const rest = plain.substr(first);
            return plain.substr(0, first) + (rest.empty() ? "" : "." + rest) + "E+" +
                   std::to_string(rest.size());
        }
    }
}

std::string scalar(Value const& value, std::mt19937_64& random) {
    if (value.type == Value::Type::text) {
        return spell_string(value.text, random);
    }
    if (value.type == Value::Type::integer) {
        return respell_integer(value.integer, random);
    }
    Writer writer;
    write(writer, value);
    return writer.take();
}

// An equal value with another order of members, other space, escapes and number spellings.
std::string respell(Value const& value, std::mt19937_64& random) {
    std::vector<std::string> parts;
    for (Value const& item : value.items) {
        parts.push_back(respell(item, random));
    }
    for (auto const& [key, member] : value.members) {
        parts.push_back(spell_string(key, random) + space(random) + ":" + space(random) +
                        respell(member, random));
    }
    bool const object = value.type == Value::Type::object;
    if (!object && value.type != Value::Type::array) {
        return space(random) + scalar(value, random) + space(random);
    }
    if (object) {
        std::ranges::shuffle(parts, random);
    }
    std::string out = object ? "{" : "[";
    for (std::size_t i = 0; i < parts.size(); ++i) {
        out += (i == 0 ? "" : ",") + space(random) + parts[i] + space(random);
    }
    return space(random) + out + (object ? "}" : "]") + space(random);
}

bool same(Value const& expected, View view) {
    switch (expected.type) {
        case Value::Type::null: return view.kind() == Kind::null;
        case Value::Type::boolean: return view.boolean() == expected.boolean;
        case Value::Type::integer: return view.integer() == expected.integer;
        case Value::Type::real: return view.number() == expected.real;
        case Value::Type::text: return view.string() == expected.text;
        case Value::Type::array: {
            std::size_t i = 0;
            bool equal = view.kind() == Kind::array && view.size() == expected.items.size();
            view.elements([&](View item) { equal = equal && same(expected.items[i++], item); });
            return equal;
        }
        case Value::Type::object: break;
    }
    return view.kind() == Kind::object && view.size() == expected.members.size() &&
           std::ranges::all_of(expected.members, [&](auto const& member) {
               View const found = view[member.first];
               return found.exists() && same(member.second, found);
           });
}

// One number from rapidcheck seeds a whole value: shrinking it is not needed, and a failure is
// reproduced by that number.
template <class Property> bool holds(std::string const& story, Property property) {
    return rc::check(story, [property](std::uint32_t seed) {
        std::mt19937_64 random(seed);
        Value const value = random_value(random, 4);
        property(value, random);
    });
}

TEST(JsonProperty, WrittenText_PassesTheCheckAndReadsBack) {
    EXPECT_TRUE(holds("check and View agree with Writer", [](Value const& value, auto&) {
        Writer writer;
        write(writer, value);
        std::string const text = writer.take();
        auto const json = check(text);
        RC_ASSERT(json.has_value());
        RC_ASSERT(json->text() == text);
        RC_ASSERT(same(value, View(*json)));
    }));
}

TEST(JsonProperty, EverySpelling_ReadsTheSame) {
    EXPECT_TRUE(holds("View decodes any spelling", [](Value const& value, auto& random) {
        auto const json = check(respell(value, random));
        RC_ASSERT(json.has_value());
        RC_ASSERT(same(value, View(*json)));
    }));
}

TEST(JsonProperty, EverySpelling_HasOneCanonicalForm) {
    EXPECT_TRUE(holds("canonical forgets the spelling", [](Value const& value, auto& random) {
        auto const one = check(respell(value, random));
        auto const other = check(respell(value, random));
        RC_ASSERT(one.has_value() && other.has_value());
        std::string const text = canonical(*one);
        RC_ASSERT(text == canonical(*other));
        auto const again = check(text);
        RC_ASSERT(again.has_value());
        RC_ASSERT(canonical(*again) == text);
        RC_ASSERT(same(value, View(*again)));
    }));
}

TEST(JsonProperty, Doubles_SurviveTheirText) {
    EXPECT_TRUE(rc::check("number -> text -> number", [](std::uint64_t bits) {
        std::mt19937_64 random(bits);
        double const number = random_double(random);
        RC_ASSERT(View(Writer().value(number).json()).number() == number);
    }));
}

TEST(JsonProperty, AnyBytes_AreRefusedOrReadCompletely) {
    EXPECT_TRUE(
        holds("damaged text is refused or means something", [](Value const& value, auto& random) {
            std::string text = respell(value, random);
            std::size_t const place = random() % text.size();
            text[place] = static_cast<char>(random());
            if (auto const json = check(text)) {
                std::string const form = canonical(*json);
                auto const again = check(form);
                RC_ASSERT(again.has_value());
                RC_ASSERT(canonical(*again) == form);
            }
        }));
}

}  // namespace
}  // namespace dormouse::json
