#pragma once
// One description of the fields of a struct, by which its JSON is written, read and documented.
// rows<S> is a tuple of rows in the order of the members on the wire, so a new field is one row:
//
//     template <> inline constexpr auto rows<Trouble> =
//         std::tuple(field("code", &Trouble::code), maybe("message", &Trouble::message));
//
// field() is always written. maybe() is omitted if it has its default: that of its type, or the one
// that the row names. An absent or unreadable member is read as the default. Form<T> defines the
// JSON of a T; a row may name another form: field<CallForm>("callID", &Note::call). Everything is
// resolved at compile time.

#include "json/json.h"
#include "session/vocabulary.h"

#include <array>
#include <concepts>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::wire {

struct Timers;
inline constexpr SessionId no_session{};

// Context of the fields: the session, from which text ids are built.
struct FieldContext {
    SessionId const& session = no_session;
    Seq seq = 0;               // of the event; 0: not of an event
    Timers* timers = nullptr;  // of a snapshot (state_json.cc)
};

// The members of an object. A search starts after the member found last, so reading in the order of
// writing compares each name once.
class Members {
public:
    explicit Members(json::View object);
    // Like View::operator[], but does not find names with escapes, which our writers never produce.
    [[nodiscard]] json::View operator[](std::string_view name);

private:
    std::vector<std::pair<std::string_view, json::View>> all_;
    std::size_t next_ = 0;
};

// Specialised for each struct that is described.
template <class S> inline constexpr auto rows = nullptr;
template <class S>
concept Described = !std::same_as<std::remove_const_t<decltype(rows<S>)>, std::nullptr_t>;

// The JSON form of T: write(out, value, context), and read(view, context), which returns nullopt
// for what is absent or not a T.
template <class T> struct Form;

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <class T> inline constexpr bool is_optional<OptionalIndirect<T>> = true;
template <class T> struct Inner {
    using Type = T;
};
template <class T> struct Inner<std::optional<T>> {
    using Type = T;
};
template <class T> struct Inner<OptionalIndirect<T>> {
    using Type = T;
};
template <class T> struct Inner<Indirect<T>> {
    using Type = T;
};

template <class T> [[nodiscard]] bool is_default(T const& value) {
    if constexpr (is_optional<T>) {
        return !value;
    } else if constexpr (std::same_as<T, Json>) {
        return value.is_null();
    } else if constexpr (requires { value.empty(); }) {
        return value.empty();
    } else {
        return value == T{};
    }
}

template <class T> [[nodiscard]] T& value_of(T& value) { return value; }
template <class T> [[nodiscard]] T& value_of(Indirect<T>& value) { return *value; }

struct TypeDefault {};

// An ordinary field: a member under a name.
template <class S, class T, class F, class D> struct Row {
    using Value = typename Inner<T>::Type;
    using Shape = F;
    static constexpr bool names_default = !std::same_as<D, TypeDefault>;

    std::string_view name;
    T S::* member;
    bool required;
    D fallback;  // of an optional: the value that replaces an unreadable one

    [[nodiscard]] bool left_out(T const& value) const {
        if (required) return false;
        if constexpr (requires { F::left_out(value); }) {
            return F::left_out(value);
        } else if constexpr (names_default && !is_optional<T>) {
            return value == static_cast<T>(fallback);
        } else {
            return is_default(value);
        }
    }
    void write(json::Writer& out, S const& from, FieldContext const& context) const {
        T const& value = from.*member;
        if (left_out(value)) return;
        out.key(name);
        if constexpr (is_optional<T>) {
            F::write(out, *value, context);
        } else {
            F::write(out, value, context);
        }
    }
    void read(Members& from, S& to, FieldContext const& context) const {
        json::View const found = from[name];
        if constexpr (names_default) {
            if (found.exists() || !is_optional<T>) to.*member = static_cast<Value>(fallback);
        }
        std::optional<Value> value = F::read(found, context);
        if (!value) return;
        if constexpr (is_optional<T>) {
            to.*member = std::move(value);
        } else {
            to.*member = *std::move(value);
        }
    }
};

// REQUIRES: the member is not a std::optional.
template <class F = void, class S, class T, class D = TypeDefault>
[[nodiscard]] constexpr auto field(std::string_view name, T S::* member, D fallback = {}) {
    static_assert(!is_optional<T>);
    using Shape = std::conditional_t<std::is_void_v<F>, Form<typename Inner<T>::Type>, F>;
    return Row<S, T, Shape, D>{name, member, true, fallback};
}
template <class F = void, class S, class T, class D = TypeDefault>
[[nodiscard]] constexpr auto maybe(std::string_view name, T S::* member, D fallback = {}) {
    using Shape = std::conditional_t<std::is_void_v<F>, Form<typename Inner<T>::Type>, F>;
    return Row<S, T, Shape, D>{name, member, false, fallback};
}

template <class... Row, class S>
void write_all(std::tuple<Row...> const& list, json::Writer& out, S const& from,
               FieldContext const& context) {
    std::apply([&](auto const&... row) { (row.write(out, from, context), ...); }, list);
}
template <class... Row, class S>
void read_all(std::tuple<Row...> const& list, Members& from, S& to, FieldContext const& context) {
    std::apply([&](auto const&... row) { (row.read(from, to, context), ...); }, list);
}

template <class Choice, std::size_t I>
void read_alternative(Choice& to, Members& from, FieldContext const& context) {
    auto& value = to.template emplace<I>();
    read_all(rows<std::variant_alternative_t<I, Choice>>, from, value, context);
}
// Makes `to` the alternative `index`.
template <class... E>
void read_choice(std::variant<E...>& to, std::size_t index, Members& from,
                 FieldContext const& context) {
    static constexpr auto readers = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array{&read_alternative<std::variant<E...>, I>...};
    }(std::make_index_sequence<sizeof...(E)>());
    readers.at(index)(to, from, context);
}

// The fields of a struct member, without an object around them.
template <class S, class T> struct Inline {
    using Value = typename Inner<T>::Type;

    T S::* member;
    void write(json::Writer& out, S const& from, FieldContext const& context) const {
        write_all(rows<Value>, out, static_cast<Value const&>(from.*member), context);
    }
    void read(Members& from, S& to, FieldContext const& context) const {
        read_all(rows<Value>, from, value_of(to.*member), context);
    }
};
template <class S, class T> Inline(T S::*) -> Inline<S, T>;

// Rows that are written only if `when` holds.
template <class When, class... Row> struct Only {
    When when;
    std::tuple<Row...> list;
    template <class S>
    void write(json::Writer& out, S const& from, FieldContext const& context) const {
        if (when(from)) write_all(list, out, from, context);
    }
    template <class S> void read(Members& from, S& to, FieldContext const& context) const {
        read_all(list, from, to, context);
    }
};
template <class When, class... Row> [[nodiscard]] constexpr auto only(When when, Row... list) {
    return Only<When, Row...>{when, std::tuple(list...)};
}

// An object under a name, with some of the fields.
template <class... Row> struct Nested {
    std::string_view name;
    std::tuple<Row...> list;
    template <class S>
    void write(json::Writer& out, S const& from, FieldContext const& context) const {
        out.key(name).begin_object();
        write_all(list, out, from, context);
        out.end_object();
    }
    template <class S> void read(Members& from, S& to, FieldContext const& context) const {
        Members inner(from[name]);
        read_all(list, inner, to, context);
    }
};
template <class... Row> [[nodiscard]] constexpr auto nested(std::string_view name, Row... list) {
    return Nested<Row...>{name, std::tuple(list...)};
}

// A member that is not on the wire: computed once the rows before it have been read.
template <class Finish> struct Derived {
    Finish finish;
    template <class S> void write(json::Writer&, S const&, FieldContext const&) const {}
    template <class S> void read(Members&, S& to, FieldContext const&) const { finish(to); }
};
template <class Finish> Derived(Finish) -> Derived<Finish>;

template <Described S> struct Form<S> {
    static void write(json::Writer& out, S const& value, FieldContext const& context) {
        out.begin_object();
        write_all(rows<S>, out, value, context);
        out.end_object();
    }
    [[nodiscard]] static std::optional<S> read(json::View view, FieldContext const& context) {
        if (!view.exists()) return std::nullopt;
        S value{};
        Members members(view);
        read_all(rows<S>, members, value, context);
        return value;
    }
};

template <std::integral T> struct Form<T> {
    static void write(json::Writer& out, T value, FieldContext const&) { out.value(value); }
    [[nodiscard]] static std::optional<T> read(json::View view, FieldContext const&) {
        auto const number = view.integer();
        return number ? std::optional(static_cast<T>(*number)) : std::nullopt;
    }
};
template <> struct Form<bool> {
    static void write(json::Writer& out, bool value, FieldContext const&) { out.value(value); }
    [[nodiscard]] static std::optional<bool> read(json::View view, FieldContext const&) {
        return view.boolean();
    }
};
template <> struct Form<std::string> {
    static void write(json::Writer& out, std::string const& value, FieldContext const&) {
        out.value(value);
    }
    [[nodiscard]] static std::optional<std::string> read(json::View view, FieldContext const&) {
        return view.string();
    }
};
template <> struct Form<Json> {
    static void write(json::Writer& out, Json const& value, FieldContext const&) {
        out.value(value);
    }
    [[nodiscard]] static std::optional<Json> read(json::View view, FieldContext const&) {
        return view.exists() ? std::optional(view.copy()) : std::nullopt;
    }
};
template <class E>
    requires std::is_enum_v<E>
struct Form<E> {
    static void write(json::Writer& out, E value, FieldContext const&) { out.value(text(value)); }
    [[nodiscard]] static std::optional<E> read(json::View view, FieldContext const&) {
        auto const word = view.string();
        return word ? session::parse<E>(*word) : std::nullopt;
    }
};
template <> struct Form<Time> {
    static void write(json::Writer& out, Time value, FieldContext const&) {
        out.value(to_ms(value));
    }
    [[nodiscard]] static std::optional<Time> read(json::View view, FieldContext const&) {
        auto const ms = view.integer();
        return ms ? std::optional(from_ms(*ms)) : std::nullopt;
    }
};

// An array; unreadable elements are dropped.
template <class List> struct ListForm {
    using Value = typename List::value_type;
    static void write(json::Writer& out, List const& list, FieldContext const& context) {
        out.begin_array();
        for (Value const& value : list) Form<Value>::write(out, value, context);
        out.end_array();
    }
    [[nodiscard]] static std::optional<List> read(json::View view, FieldContext const& context) {
        List list;
        view.elements([&](json::View element) {
            if (auto value = Form<Value>::read(element, context))
                list.insert(list.end(), std::move(*value));
        });
        return list;
    }
};
template <class T> struct Form<std::vector<T>> : ListForm<std::vector<T>> {};
template <class T> struct Form<std::set<T>> : ListForm<std::set<T>> {};

}  // namespace dormouse::wire
