#pragma once
// Describes the objects of the API. rows<S> lists the members of the object that is made from a
// struct S, in the order on the wire. The rows write the object, and tools/object_schemas.py makes
// its schema in openapi.json from them, so a new member is one row:
//
//     template <>
//     inline constexpr auto rows<Vote> =
//         object("Vote", "One of several votes.", field("by", &Vote::by),
//                field("approved", &Vote::approved), field("at", &Vote::at, "When it came."));
//
// A row gets its value by a member pointer or a function of S. The value's type decides how it
// looks: nullopt is null, a time is a number, an enumeration its word, a struct with rows an
// object.

#include <dormouse/id.h>
#include <dormouse/time.h>

#include "base/crypto/sha256.h"
#include "base/enum_words.h"
#include "json/json.h"

#include <concepts>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace dormouse::http {

// A reference to something that an object is made from.
template <class T> using Ref = std::reference_wrapper<T const>;

template <class S> inline constexpr auto rows = nullptr;
template <class S>
concept Described = !std::same_as<std::remove_const_t<decltype(rows<S>)>, std::nullptr_t>;

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <class T> inline constexpr bool is_ref = false;
template <class T> inline constexpr bool is_ref<Ref<T>> = true;
template <class T> inline constexpr bool is_choice = false;
template <class... T> inline constexpr bool is_choice<std::variant<T...>> = true;
// An id with a text of its own.
template <class T>
concept HasText = !std::same_as<T, Json> && requires(T const& id) { id.text(); };

// "trn_…_3": the text of a thing that has a number in its session.
template <char... Prefix> struct NumberText {
    static constexpr char prefix[] = {Prefix..., '_', '\0'};
    SessionId session;
    std::uint64_t number = 0;
    [[nodiscard]] std::string text() const { return numbered_id(prefix, session, number); }
};
using TurnText = NumberText<'t', 'r', 'n'>;
using MessageText = NumberText<'m', 's', 'g'>;
using ReceiptText = NumberText<'r', 'c', 'p'>;
using TaskText = NumberText<'t', 's', 'k'>;

// The part of a schema besides the type.
struct Facts {
    std::string_view about = {};
    std::string_view words = {};  // the only values, separated by spaces
    std::string_view more = {};   // further members of the schema, as JSON
};

template <class T> void write_value(json::Writer& out, T const& value);

template <class List, class S> void write_rows(json::Writer& out, List const& list, S const& from) {
    std::apply([&](auto const&... row) { (row.write(out, from), ...); }, list);
}

template <class Get> struct Field {
    std::string_view name;
    Get get;
    Facts facts;
    bool left_out;  // when there is none; else null

    template <class S> void write(json::Writer& out, S const& from) const {
        decltype(auto) value = std::invoke(get, from);
        if constexpr (is_optional<std::remove_cvref_t<decltype(value)>>) {
            if (left_out && !value) return;
        }
        write_value(out.key(name), value);
    }
};
template <class Get>
[[nodiscard]] constexpr auto field(std::string_view name, Get get, Facts facts) {
    return Field<Get>{name, get, facts, false};
}
template <class Get>
[[nodiscard]] constexpr auto field(std::string_view name, Get get, std::string_view about = {}) {
    return Field<Get>{name, get, {about}, false};
}
// Left out when there is none.
template <class Get>
[[nodiscard]] constexpr auto maybe(std::string_view name, Get get, std::string_view about = {}) {
    return Field<Get>{name, get, {about}, true};
}

template <class Get>
[[nodiscard]] constexpr auto maybe(std::string_view name, Get get, Facts facts) {
    return Field<Get>{name, get, facts, true};
}

// A text that is always the same.
struct Constant {
    std::string_view name, value;
    template <class S> void write(json::Writer& out, S const&) const { out.member(name, value); }
};

// A member that is put into the finished text elsewhere, and not always.
struct AddedLater {
    std::string_view name;
    Facts facts;
    template <class S> void write(json::Writer&, S const&) const {}
};

// Rows of a part of what the object is made of.
template <class Get, class... Row> struct Of {
    Get get;
    std::tuple<Row...> list;
    template <class S> void write(json::Writer& out, S const& from) const {
        write_rows(out, list, std::invoke(get, from));
    }
};
template <class Get, class... Row> [[nodiscard]] constexpr auto of(Get get, Row... list) {
    return Of<Get, Row...>{get, std::tuple(list...)};
}
template <class Get, class... Row>
[[nodiscard]] constexpr auto of(Get get, std::tuple<Row...> list) {
    return Of<Get, Row...>{get, list};
}

// An object under a name that holds some of the members.
template <class... Row> struct Nested {
    std::string_view name, about;
    std::tuple<Row...> list;
    template <class S> void write(json::Writer& out, S const& from) const {
        write_rows(out.key(name).begin_object(), list, from);
        out.end_object();
    }
};
template <class... Row>
[[nodiscard]] constexpr auto nested(std::string_view name, std::string_view about, Row... list) {
    return Nested<Row...>{name, about, std::tuple(list...)};
}

// `name`: of its schema; empty: it has none of its own.
template <class... Row> struct Object {
    std::string_view name, about;
    std::tuple<Row...> list;
    template <class S> void write(json::Writer& out, S const& from) const {
        write_rows(out.begin_object(), list, from);
        out.end_object();
    }
};
template <class... Row>
[[nodiscard]] constexpr auto object(std::string_view name, std::string_view about, Row... list) {
    return Object<Row...>{name, about, std::tuple(list...)};
}

// One of several objects: `get` gives a variant of structs with rows.
template <class Get> struct OneOf {
    std::string_view name, about;
    Get get;
    template <class S> void write(json::Writer& out, S const& from) const {
        write_value(out, std::invoke(get, from));
    }
};

template <class T> void write_value(json::Writer& out, T const& value) {
    if constexpr (is_optional<T>) {
        value ? write_value(out, *value) : void(out.null());
    } else if constexpr (is_ref<T>) {
        write_value(out, value.get());
    } else if constexpr (is_choice<T>) {
        std::visit([&](auto const& one) { write_value(out, one); }, value);
    } else if constexpr (Described<T>) {
        rows<T>.write(out, value);
    } else if constexpr (std::same_as<T, Time>) {
        out.value(to_ms(value));
    } else if constexpr (std::same_as<T, Duration>) {
        out.value(std::int64_t{value.count()});
    } else if constexpr (std::same_as<T, Sha256>) {
        out.value(digest_text(value));
    } else if constexpr (std::is_enum_v<T>) {
        out.value(word_of(value));
    } else if constexpr (HasText<T>) {
        out.value(value.text());
    } else if constexpr (std::ranges::range<T> &&
                         !std::convertible_to<T const&, std::string_view>) {
        out.begin_array();
        for (auto const& one : value) write_value(out, one);
        out.end_array();
    } else {
        out.value(value);
    }
}
template <Described S> [[nodiscard]] std::string object_text(S const& from) {
    json::Writer out;
    write_value(out, from);
    return out.take();
}

// Bytes of the items of a page of any list, about; at least one item is on it.
inline constexpr std::size_t list_bytes_max = std::size_t{8} << 20;

// {"items":[…],"next":…}. Items are structs with rows, or the JSON of objects.
template <std::ranges::input_range List>
[[nodiscard]] std::string list_text(List const& items, std::optional<std::string> const& next) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (auto const& item : items) {
        if constexpr (std::same_as<decltype(item), std::string const&>) {
            out.raw(item);
        } else {
            write_value(out, item);
        }
    }
    return out.end_array().member("next", next).end_object().take();
}

// The value of `get`; null if it is empty or 0.
template <class Get> [[nodiscard]] constexpr auto or_null(Get get) {
    return [get](auto const& from) {
        decltype(auto) value = std::invoke(get, from);
        using T = std::remove_cvref_t<decltype(value)>;
        return value == T{} ? std::nullopt : std::optional<T>(value);
    };
}

}  // namespace dormouse::http
