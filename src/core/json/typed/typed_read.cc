#include "json/spell.h"
#include "json/typed/typed.h"

#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>

namespace dormouse::json {

using detail::Field;
using detail::fields_max;
using detail::Shape;
using detail::Type;

namespace {

std::string_view word(Kind kind) {
    switch (kind) {
        case Kind::null: return "null";
        case Kind::boolean: return "true or false";
        case Kind::number: return "a number";
        case Kind::string: return "a string";
        case Kind::array: return "an array";
        case Kind::object: return "an object";
    }
    return "";
}

// An integer in any spelling (1, 1.0, 1e3); nullopt: not an integer, or more than 64 bits.
std::optional<Integer> exact(std::string_view text, bool& is_integer) {
    is_integer = true;
    bool const minus = text.starts_with('-');
    Integer out{minus, 0};
    char const* const end = text.data() + text.size();
    auto const whole = std::from_chars(text.data() + (minus ? 1 : 0), end, out.size);
    if (whole.ec == std::errc() && whole.ptr == end) return out;
    Decimal const decimal = parse_decimal(text);
    is_integer = decimal.is_integer() || decimal.digits.empty();
    if (decimal.digits.empty()) return Integer{};
    if (!is_integer || decimal.point > 20) return std::nullopt;
    std::string digits = decimal.digits;
    digits.append(static_cast<std::size_t>(decimal.point) - digits.size(), '0');
    auto const parsed = std::from_chars(digits.data(), digits.data() + digits.size(), out.size);
    return parsed.ec == std::errc() ? std::optional(out) : std::nullopt;
}

// Reads one value; continues after mistakes to find them all.
class Reader {
public:
    explicit Reader(bool skips_unknown) : skip_unknown(skips_unknown) {}

    void read(View view, Type const& type, Rule const& rule, void* object) {
        if (walk.enough()) return;
        switch (type.shape) {
            case Shape::boolean: return boolean(view, object);
            case Shape::integer: return integer(view, type, rule, object);
            case Shape::number: return number(view, rule, object);
            case Shape::string: return string(view, rule, object);
            case Shape::enumeration: return enumeration(view, type, object);
            case Shape::duration: return duration(view, type, object);
            case Shape::optional: return optional(view, type, rule, object);
            case Shape::list: return list(view, type, rule, object);
            case Shape::array: return array(view, type, object);
            case Shape::map: return map(view, type, rule, object);
            case Shape::structure: return structure(view, type, object);
            case Shape::choice: return choice(view, type, object);
            case Shape::nothing: return static_cast<void>(is(view, Kind::null));
            case Shape::json: *static_cast<Json*>(object) = view.copy(); return;
        }
    }

    bool skip_unknown;
    Walk walk;

private:
    bool is(View view, Kind wanted) { return is(view, wanted, word(wanted)); }
    bool is(View view, Kind wanted, std::string_view called) {
        Kind const kind = view.kind();
        if (kind == wanted) return true;
        walk.wrong("must be " + std::string(called) + ", not " + std::string(word(kind)));
        return false;
    }

    void boolean(View view, void* object) {
        if (is(view, Kind::boolean)) *static_cast<bool*>(object) = view.raw() == "true";
    }

    void integer(View view, Type const& type, Rule const& rule, void* object) {
        if (!is(view, Kind::number, "an integer")) return;
        bool is_integer = true;
        auto const number = exact(view.raw(), is_integer);
        if (!is_integer) return walk.wrong("must be an integer");
        bool const negative = view.raw().starts_with('-');
        if (negative && (!number || *number < least(type)))
            return walk.wrong("must be at least " + least(type).text());
        if (!number || greatest(type) < *number)
            return walk.wrong("must be at most " + greatest(type).text());
        check_number(walk, rule, *number);
        store(type, *number, object);
    }

    void number(View view, Rule const& rule, void* object) {
        if (!is(view, Kind::number)) return;
        double const number = to_double(view.raw());
        check_number(walk, rule, number);
        *static_cast<double*>(object) = number;
    }

    void string(View view, Rule const& rule, void* object) {
        if (!is(view, Kind::string)) return;
        auto& text = *static_cast<std::string*>(object);
        std::string_view const body = view.raw().substr(1, view.raw().size() - 2);
        if (body.find('\\') == std::string_view::npos) {
            text.assign(body);
        } else {
            text = unescape(body);
        }
        check_text(walk, rule, text);
    }

    void enumeration(View view, Type const& type, void* object) {
        if (!is(view, Kind::string)) return;
        std::string const text = *view.string();
        auto const found = std::ranges::find(type.names, text, &detail::EnumName::name);
        if (found != type.names.end()) return store(type, integer_of(found->value), object);
        std::string message = "must be one of";
        std::vector<std::string_view> names;
        for (auto const& [name, value] : type.names) {
            message += (names.empty() ? " \"" : ", \"") + std::string(name) + "\"";
            names.push_back(name);
        }
        walk.wrong(message + did_you_mean(text, names));
    }

    void duration(View view, Type const& type, void* object) {
        if (!is(view, Kind::string)) return;
        auto const time = parse_duration(*view.string());
        if (!time)
            return walk.wrong("must be a duration such as \"250ms\", \"5s\", \"3m\" or \"2h\"");
        if (time->count() % type.tick_ms != 0)
            return walk.wrong("must be a whole number of " + std::to_string(type.tick_ms) + " ms");
        Integer const ticks = integer_of(time->count() / type.tick_ms);
        if (greatest(type) < ticks) return walk.wrong("is longer than this field can hold");
        store(type, ticks, object);
    }

    void optional(View view, Type const& type, Rule const& rule, void* object) {
        // null means empty, whatever the initialiser.
        if (view.is_null()) return type.access.reserve(object, 0);
        read(view, *type.inner, rule, type.access.add(object));
    }

    void list(View view, Type const& type, Rule const& rule, void* object) {
        if (!is(view, Kind::array)) return;
        std::size_t const size = view.size();
        check_size(walk, rule, size, "items");
        type.access.reserve(object, size);
        std::size_t index = 0;
        auto const each = [&](View element) {
            if (walk.enough()) return;
            Walk::Step const step(walk, index++);
            read(element, *type.inner, no_rule, type.access.add(object));
        };
        view.elements(std::ref(each));
    }

    void array(View view, Type const& type, void* object) {
        if (!is(view, Kind::array)) return;
        if (view.size() != type.length)
            return walk.wrong("must have " + std::to_string(type.length) + " items");
        std::size_t index = 0;
        view.elements([&](View element) {
            Walk::Step const step(walk, index);
            read(element, *type.inner, no_rule, static_cast<char*>(object) + type.bytes * index++);
        });
    }

    void map(View view, Type const& type, Rule const& rule, void* object) {
        if (!is(view, Kind::object)) return;
        type.access.reserve(object, 0);
        view.members([&](std::string_view key, View value) {
            if (walk.enough()) return;
            Walk::Step const step(walk, key);
            read(value, *type.inner, no_rule, type.access.add_key(object, std::string(key)));
        });
        check_size(walk, rule, type.access.size(object), "entries");
    }

    void structure(View view, Type const& type, void* object, bool tagged = false) {
        if (!is(view, Kind::object)) return;
        std::array<void*, fields_max> places{};
        type.access.fields(object, places.data());
        std::uint64_t seen = 0;
        std::size_t next = 0;  // members mostly come in the order of the fields
        auto const each = [&](std::string_view key, View value) {
            Walk::Step const step(walk, key);
            std::size_t const i = index_of(type, key, next);
            if (i == type.fields.size()) {
                if (!skip_unknown && (!tagged || key != "type")) unknown(type, key);
                return;
            }
            next = i + 1;
            seen |= std::uint64_t{1} << i;
            Field const& field = type.fields[i];
            read(value, *field.type, field.doc ? field.doc->rule : no_rule, places[i]);
        };
        // Passed by reference: a function object of this size would be allocated.
        view.members(std::ref(each));
        if (std::uint64_t const all = (std::uint64_t{1} << type.fields.size()) - 1; seen != all)
            missing(type, seen);
    }

    static std::size_t index_of(Type const& type, std::string_view key, std::size_t next) {
        if (next < type.fields.size() && type.fields[next].name == key) return next;
        return static_cast<std::size_t>(std::ranges::find(type.fields, key, &Field::name) -
                                        type.fields.begin());
    }

    static std::string did_you_mean(std::string_view word,
                                    std::vector<std::string_view> const& names) {
        auto const near = nearest(word, names);
        return near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?";
    }

    void unknown(Type const& type, std::string_view key) {
        std::vector<std::string_view> names;
        for (Field const& field : type.fields) names.push_back(field.name);
        walk.wrong("is not known" + did_you_mean(key, names));
    }

    void missing(Type const& type, std::uint64_t seen);

    void choice(View view, Type const& type, void* object);

    [[nodiscard]] static bool fits(View view, Type const& type) {
        switch (type.shape) {
            case Shape::boolean: return view.kind() == Kind::boolean;
            case Shape::integer:
            case Shape::number: return view.kind() == Kind::number;
            case Shape::string:
            case Shape::enumeration:
            case Shape::duration: return view.kind() == Kind::string;
            case Shape::list:
            case Shape::array: return view.kind() == Kind::array;
            case Shape::map: return view.kind() == Kind::object;
            case Shape::nothing: return view.kind() == Kind::null;
            case Shape::structure:
                return view.kind() == Kind::object &&
                       (type.tag.empty() || view["type"].string() == type.tag);
            case Shape::optional:
            case Shape::choice:
            case Shape::json: break;
        }
        return false;
    }
};

void Reader::missing(Type const& type, std::uint64_t seen) {
    std::uint64_t maybe = 0;
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
        bool const optional = type.fields[i].type->shape == Shape::optional;
        if (!optional) maybe |= std::uint64_t{1} << i;
    }
    if ((maybe & ~seen) == 0) return;  // most objects need no initialisers
    std::uint64_t const required = required_fields(type);
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
        if (((seen >> i) & 1) != 0 || ((required >> i) & 1) == 0) continue;
        Walk::Step const step(walk, type.fields[i].name);
        walk.wrong("is missing");
    }
}

void Reader::choice(View view, Type const& type, void* object) {
    for (std::size_t i = 0; i < type.choices.size(); ++i) {
        Type const& one = *type.choices[i];
        if (!fits(view, one)) continue;
        void* const place = type.access.choose(object, i);
        if (one.shape == Shape::structure) return structure(view, one, place, !one.tag.empty());
        return read(view, one, no_rule, place);
    }
    std::string tags;
    for (Type const* one : type.choices) {
        if (!one->tag.empty())
            tags += (tags.empty() ? "\"" : ", \"") + std::string(one->tag) + "\"";
    }
    if (view.kind() != Kind::object || tags.empty())
        return walk.wrong("must not be " + std::string(word(view.kind())));
    Walk::Step const step(walk, "type");
    walk.wrong("must be one of " + tags);
}

}  // namespace

}  // namespace dormouse::json

namespace dormouse::inline v0::detail {

Result<void> read(Json const& json, Type const& type, void* object, bool skip_unknown) {
    json::Reader reader(skip_unknown);
    reader.read(json::View(json), type, json::no_rule, object);
    if (!reader.walk.clean()) return std::unexpected(reader.walk.error());
    return {};
}

}  // namespace dormouse::inline v0::detail
