#pragma once
// Descriptions of C++ types that have a JSON form: tables of constants, made by the compiler.
// schema.h walks these tables to write schemas, read and write, so hardly any code is compiled for
// each type.
//
//   in C++                              in JSON
//   bool                                true, false
//   signed and unsigned, 8 to 64 bits   integer, exact; no char
//   double                              number
//   std::string                         string
//   enum class, values 0 to 63          the enumerator's name
//   std::chrono durations, whole ms     "250ms", "5s", "3m", "2h", "1d"
//   std::optional<T>                    T or null; as a field it may be left out
//   std::vector<T>, std::array<T, N>    array
//   std::map<std::string, T>            object
//   a plain struct                      object: its fields by name, no others
//   std::variant<T...>                  one of them, told apart by the kind of JSON value; several
//                                       structs by the member "type", which holds each one's
//                                       `static constexpr std::string_view tag = "…";`
//   dormouse::Json                      anything

#include <dormouse/fields.h>
#include <dormouse/json.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// A number in a rule; integers are exact.
struct Bound {
    enum class Kind : std::uint8_t { none, integer, real };

    constexpr Bound() = default;
    template <std::integral I>
    constexpr Bound(I number) : kind(Kind::integer), integer(static_cast<std::int64_t>(number)) {}
    constexpr Bound(double number) : kind(Kind::real), real(number) {}

    Kind kind = Kind::none;
    std::int64_t integer = 0;
    double real = 0;
};

// Limits on a field's values beyond its type. For an optional field they apply if it has a value.
struct Rule {
    Bound min = {};  // numbers, both inclusive
    Bound max = {};
    Bound min_size = {};  // characters of a string, items of a list or map
    Bound max_size = {};
    std::string_view pattern = {};  // for strings: an ECMAScript regular expression; see schema.h
    bool may_be_left_out = false;   // if left out, the field keeps its initialiser's value
};

// Describes a field in the schema that the model sees: `static constexpr dormouse::Doc doc[] =
// {…};` in the struct. A field may be left out if it is optional, or if its initialiser differs
// from the type's zero (or empty) value; all others are required, because C++ cannot tell `int
// retries = 0;` from `int retries;`. A field's rule may set may_be_left_out; a struct may declare
// `static constexpr bool all_optional = true;` for all of its fields.
struct Doc {
    std::string_view field;
    std::string_view text = {};
    Rule rule = {};
};

namespace detail {

enum class Shape : std::uint8_t {
    boolean,
    integer,
    number,
    string,
    enumeration,
    duration,
    optional,
    list,
    array,
    map,
    structure,
    choice,
    nothing,
    json,
};

struct Type;

struct Field {
    std::string_view name;
    Type const* type = nullptr;
    Doc const* doc = nullptr;
};

struct EnumName {
    std::string_view name;
    std::int64_t value = 0;
};

// Operations on an object that need code compiled for its type. Null where the shape does not need
// them.
struct Access {
    using Use = void (*)(void* context, void const* object);
    using UseEntry = void (*)(void* context, std::string const& key, void const* value);

    void (*fields)(void* object, void** out) = nullptr;  // structure: addresses, in order
    void (*const_fields)(void const* object, void const** out) = nullptr;
    void (*with_fresh)(void* context, Use use) = nullptr;  // structure: passes a T{} to `use`
    void const* (*get)(void const* object) = nullptr;      // optional (or null), choice
    std::size_t (*size)(void const* object) = nullptr;     // list, map; choice: index of its
                                                           // alternative
    void const* (*at)(void const* object, std::size_t) = nullptr;  // list
    void (*reserve)(void* object, std::size_t) = nullptr;  // list, map: empties it too; optional:
                                                           // empties it
    void* (*add)(void* object) = nullptr;                  // list: at its end; optional: its value
    void* (*add_key)(void* object, std::string key) = nullptr;                // map
    void* (*choose)(void* object, std::size_t which) = nullptr;               // choice
    void (*each)(void const* object, void* context, UseEntry use) = nullptr;  // map
};

struct Type {
    Shape shape = Shape::nothing;
    bool is_signed = false;       // integer, enumeration, duration: of the C++ type
    std::size_t bytes = 0;        // size of the C++ type; array: of one item
    std::size_t length = 0;       // array
    std::int64_t tick_ms = 0;     // duration
    Type const* inner = nullptr;  // optional, list, array, map
    std::span<EnumName const> names = {};
    std::span<Field const> fields = {};
    std::span<Type const* const> choices = {};
    std::string_view tag = {};  // structure: its tag as an alternative of a choice
    bool all_optional = false;  // structure: every field may be left out
    Access access = {};
};

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <class T> inline constexpr bool is_list = false;
template <class T> inline constexpr bool is_list<std::vector<T>> = true;
template <class T> inline constexpr bool is_std_array = false;
template <class T, std::size_t N> inline constexpr bool is_std_array<std::array<T, N>> = true;
template <class T> inline constexpr bool is_map = false;
template <class T> inline constexpr bool is_map<std::map<std::string, T>> = true;
template <class T> inline constexpr bool is_variant = false;
template <class... T> inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T> inline constexpr bool is_duration = false;
template <class R, class P> inline constexpr bool is_duration<std::chrono::duration<R, P>> = true;
template <class T>
inline constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
    std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;
template <class T>
inline constexpr bool is_integer =
    std::is_integral_v<T> && !is_character<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;
template <class T> inline constexpr bool is_pointer = std::is_pointer_v<T>;
template <class T> inline constexpr bool is_pointer<std::unique_ptr<T>> = true;
template <class T> inline constexpr bool is_pointer<std::shared_ptr<T>> = true;

template <class T>
concept Structure = std::is_aggregate_v<T> && std::is_class_v<T> && !is_std_array<T> &&
                    !std::is_same_v<T, std::monostate>;

template <class T>
concept HasDoc = requires { typename std::integral_constant<std::size_t, std::size(T::doc)>; };
template <class T>
concept HasTag = requires { typename std::bool_constant<(std::string_view(T::tag).size() > 0)>; };

template <class T> constexpr Doc const* doc_of(std::string_view field) {
    if constexpr (HasDoc<T>) {
        for (Doc const& doc : T::doc) {
            if (without_underscore(doc.field) == field) return &doc;
        }
    }
    return nullptr;
}
// Compares no pointer with null: with -fno-delete-null-pointer-checks g++ does not treat such a
// comparison as a constant.
template <class T> constexpr Rule rule_of(std::string_view field) {
    if constexpr (HasDoc<T>) {
        for (Doc const& doc : T::doc) {
            if (without_underscore(doc.field) == field) return doc.rule;
        }
    }
    return {};
}
template <class T> constexpr bool docs_have_fields() {
    if constexpr (HasDoc<T>) {
        for (Doc const& doc : T::doc) {
            bool found = false;
            for (std::string_view const name : field_names<T>())
                found |= name == without_underscore(doc.field);
            if (!found) return false;
        }
    }
    return true;
}
// False if two fields have the same JSON name, as `type` and `type_` do, or one has the name
// `taken`.
template <class T> constexpr bool names_differ(std::string_view taken = {}) {
    auto const names = field_names<T>();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == taken) return false;
        for (std::size_t j = 0; j < i; ++j) {
            if (names[i] == names[j]) return false;
        }
    }
    return true;
}

inline constexpr std::size_t enum_values = 64;

template <class E> constexpr std::string_view all_spelled() {
    std::string_view text = []<std::size_t... I>(std::index_sequence<I...>) {
        return spelled_values<E, static_cast<E>(I)...>();
    }(std::make_index_sequence<enum_values>{});
    text.remove_prefix(text.find("Values = ") + 10);
    return text;
}
// Takes the first name off `text`, with the separator after it, and returns it unqualified. Empty
// if the value has no name.
constexpr std::string_view take_name(std::string_view& text) {
    std::size_t depth = 0, at = 0;
    for (; at < text.size(); ++at) {
        char const c = text[at];
        if (depth == 0 && (c == ',' || c == '}' || c == '>')) break;
        if (c == '(' || c == '<' || c == '{') ++depth;
        if (c == ')' || c == '>' || c == '}') --depth;
    }
    std::string_view name = text.substr(0, at);
    text.remove_prefix(at + 2 < text.size() ? at + 2 : text.size());
    auto const colons = name.rfind("::");
    if (colons != std::string_view::npos) name.remove_prefix(colons + 2);
    bool const named = !name.empty() && name.find_first_of("()") == std::string_view::npos &&
                       (name[0] < '0' || name[0] > '9') && name[0] != '-';
    return named ? without_underscore(name) : std::string_view();
}
template <class E> constexpr std::size_t enum_count() {
    std::string_view text = all_spelled<E>();
    std::size_t count = 0;
    for (std::size_t i = 0; i < enum_values; ++i) count += take_name(text).empty() ? 0 : 1;
    return count;
}
template <class E> constexpr auto enum_names() {
    std::array<EnumName, enum_count<E>()> out{};
    std::string_view text = all_spelled<E>();
    std::size_t next = 0;
    for (std::size_t i = 0; i < enum_values; ++i) {
        std::string_view const name = take_name(text);
        if (!name.empty()) out[next++] = {name, static_cast<std::int64_t>(i)};
    }
    return out;
}

// The JSON types by which the alternatives of a variant are distinguished.
enum class Kind : std::uint8_t { null, boolean, number, string, array, object, any };

template <class T> constexpr Kind kind_of() {
    if constexpr (std::is_same_v<T, std::monostate>)
        return Kind::null;
    else if constexpr (std::is_same_v<T, bool>)
        return Kind::boolean;
    else if constexpr (is_integer<T> || std::is_same_v<T, double>)
        return Kind::number;
    else if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T> || is_duration<T>)
        return Kind::string;
    else if constexpr (is_list<T> || is_std_array<T>)
        return Kind::array;
    else if constexpr (is_map<T> || Structure<T>)
        return Kind::object;
    else
        return Kind::any;
}
template <class... T> constexpr bool kinds_differ() {
    constexpr std::array kinds{kind_of<T>()...};
    constexpr std::array tags{HasTag<T>...};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i] == Kind::any) return false;
        for (std::size_t j = 0; j < i; ++j) {
            if (kinds[i] == kinds[j] && !(tags[i] && tags[j])) return false;
        }
    }
    return true;
}
template <class... T> constexpr bool tags_differ() {
    std::array<std::string_view, sizeof...(T)> tags{};
    std::size_t n = 0;
    auto const add = [&]<class A>(std::type_identity<A>) {
        if constexpr (HasTag<A>) tags[n++] = A::tag;
    };
    (add(std::type_identity<T>{}), ...);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (tags[i] == tags[j]) return false;
        }
    }
    return true;
}

template <class> inline constexpr bool never = false;

template <class T> struct Stripped {
    using type = T;
};
template <class T> struct Stripped<std::optional<T>> : Stripped<T> {};

// Returns true if the rule applies to the type of its field.
template <class T> constexpr bool rule_fits(Rule const& rule) {
    using V = typename Stripped<T>::type;
    constexpr bool number = is_integer<V> || std::is_same_v<V, double>;
    constexpr bool string = std::is_same_v<V, std::string>;
    bool const value = rule.min.kind != Bound::Kind::none || rule.max.kind != Bound::Kind::none;
    bool const size =
        rule.min_size.kind != Bound::Kind::none || rule.max_size.kind != Bound::Kind::none;
    return (!value || number) && (!size || string || is_list<V> || is_map<V>) &&
           (rule.pattern.empty() || string);
}
template <class T> constexpr bool rules_fit() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        using Tuple = decltype(tie_fields(std::declval<T&>()));
        return (rule_fits<std::remove_reference_t<std::tuple_element_t<I, Tuple>>>(
                    rule_of<T>(field_name<T, I>())) &&
                ...);
    }(std::make_index_sequence<field_count<T>()>{});
}

template <class T, class... Above> constexpr bool check_type();

template <class T, class... Above> constexpr bool check_fields() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        using Tuple = decltype(tie_fields(std::declval<T&>()));
        return (
            check_type<std::remove_reference_t<std::tuple_element_t<I, Tuple>>, T, Above...>() &&
            ...);
    }(std::make_index_sequence<field_count<T>()>{});
}

template <class T, class... Above> constexpr bool check_structure() {
    static_assert(std::is_default_constructible_v<T>,
                  "a struct in JSON needs no constructor and no field without a default value: "
                  "references and types that cannot be made from {} cannot be its fields");
    static_assert(
        !has_base<T>(),
        "a struct with a base class has fields that cannot be seen: make the base a field");
    static_assert(field_count<T>() <= fields_max,
                  "a struct in JSON has at most 32 fields: group them in structs of their own");
    if constexpr (!has_base<T>() && field_count<T>() <= fields_max) {
        constexpr bool plain = each_field_is_one_value<T>();
        static_assert(plain,
                      "a C array has no JSON form: use std::string, std::array or std::vector");
        if constexpr (plain) {
            static_assert(names_differ<T>(),
                          "two fields of this struct have one name (an underscore at the end is no "
                          "part of it)");
            static_assert(docs_have_fields<T>(),
                          "`doc` describes a field that this struct does not have");
            if constexpr (docs_have_fields<T>()) {
                static_assert(rules_fit<T>(),
                              "`doc` has a rule that does not fit its field: min and max are for "
                              "numbers, sizes for strings, vectors and maps, pattern for strings");
            }
            return check_fields<T, Above...>();
        }
    }
    return false;
}

template <class... A, class... Above>
constexpr bool check_choice(std::type_identity<std::variant<A...>>, std::type_identity<Above>...) {
    constexpr bool apart = kinds_differ<A...>();
    static_assert(
        apart,
        "JSON cannot tell the alternatives of this variant apart: each must be another kind "
        "of value, or a struct with a `static constexpr std::string_view tag`");
    static_assert(tags_differ<A...>(), "two structs of this variant have the same tag");
    constexpr bool free = ((!HasTag<A> ||
                            [] {
                                if constexpr (Structure<A>) return names_differ<A>("type");
                                return true;
                            }()) &&
                           ...);
    static_assert(free, "a struct with a tag has no field `type`: its tag is written there");
    return (check_type<A, Above...>() && ...);
}

// True, or a static assertion that says in one sentence why T has no JSON form. `Above`: the
// structs that contain it.
template <class T, class... Above> constexpr bool check_type() {
    constexpr bool is_cyclic = (std::is_same_v<T, Above> || ...);
    if constexpr (is_cyclic) {
        static_assert(never<T>, "a struct that holds itself has no schema that ends");
    } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
        static_assert(never<T>, "std::vector<bool> holds no bools: use a vector of an enum");
    } else if constexpr (is_optional<T>) {
        using Inner = typename T::value_type;
        static_assert(!is_optional<Inner> && !std::is_same_v<Inner, Json> &&
                          !std::is_same_v<Inner, std::monostate>,
                      "an optional of a type that may be null makes null ambiguous");
        return check_type<Inner, Above...>();
    } else if constexpr (is_list<T> || is_std_array<T>) {
        return check_type<typename T::value_type, Above...>();
    } else if constexpr (is_map<T>) {
        return check_type<typename T::mapped_type, Above...>();
    } else if constexpr (is_variant<T>) {
        return check_choice(std::type_identity<T>{}, std::type_identity<Above>{}...);
    } else if constexpr (std::is_enum_v<T>) {
        static_assert(
            requires { T{0}; }, "an enum in JSON has a fixed underlying type: use enum class");
        static_assert(enum_count<T>() > 0, "an enum in JSON has enumerators with values 0 to 63");
    } else if constexpr (is_duration<T>) {
        static_assert(std::is_integral_v<typename T::rep> &&
                          std::ratio_divide<typename T::period, std::milli>::den == 1,
                      "a duration in JSON counts whole milliseconds or longer, as an integer");
    } else if constexpr (is_pointer<T>) {
        static_assert(never<T>, "a pointer has no JSON form: use the value, or std::optional");
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, long double>) {
        static_assert(never<T>, "of the floating-point types only double has a JSON form");
    } else if constexpr (is_character<T>) {
        static_assert(never<T>, "a character has no JSON form: use std::string or std::int8_t");
    } else if constexpr (std::is_same_v<T, std::string_view>) {
        static_assert(never<T>,
                      "a string_view owns nothing that could be read into it: use "
                      "std::string");
    } else if constexpr (Structure<T>) {
        return check_structure<T, Above...>();
    } else if constexpr (!std::is_same_v<T, bool> && !is_integer<T> && !std::is_same_v<T, double> &&
                         !std::is_same_v<T, std::string> && !std::is_same_v<T, Json> &&
                         !std::is_same_v<T, std::monostate>) {
        static_assert(
            never<T>,
            "this type has no JSON form: use bool, an integer, double, std::string, an "
            "enum class, a duration, optional, vector, array, map by std::string, variant, "
            "a plain struct or dormouse::Json");
    }
    return true;
}

template <class T> constexpr Type describe();
template <class T> inline constexpr Type type_of = describe<T>();

template <class T> inline constexpr auto names_of = enum_names<T>();

template <class T> constexpr auto make_fields() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        using Tuple = decltype(tie_fields(std::declval<T&>()));
        return std::array<Field, sizeof...(I)>{Field{
            field_name<T, I>(), &type_of<std::remove_reference_t<std::tuple_element_t<I, Tuple>>>,
            doc_of<T>(field_name<T, I>())}...};
    }(std::make_index_sequence<field_count<T>()>{});
}
template <class T> inline constexpr auto fields_of = make_fields<T>();

template <class T> constexpr Type describe_structure() {
    Type type{.shape = Shape::structure, .fields = fields_of<T>};
    if constexpr (HasTag<T>) type.tag = T::tag;
    if constexpr (requires { bool{T::all_optional}; }) type.all_optional = T::all_optional;
    type.access.fields = [](void* object, void** out) {
        std::apply([&](auto&... field) { ((*out++ = std::addressof(field)), ...); },
                   tie_fields(*static_cast<T*>(object)));
    };
    type.access.const_fields = [](void const* object, void const** out) {
        std::apply([&](auto&... field) { ((*out++ = std::addressof(field)), ...); },
                   tie_fields(*static_cast<T const*>(object)));
    };
    type.access.with_fresh = [](void* context, Access::Use use) {
        T const fresh{};
        use(context, &fresh);
    };
    return type;
}

template <class T> constexpr Type describe_optional() {
    Type type{.shape = Shape::optional, .inner = &type_of<typename T::value_type>};
    type.access.get = [](void const* object) -> void const* {
        T const& value = *static_cast<T const*>(object);
        return value ? std::addressof(*value) : nullptr;
    };
    type.access.reserve = [](void* object, std::size_t) { static_cast<T*>(object)->reset(); };
    type.access.add = [](void* object) -> void* {
        return std::addressof(static_cast<T*>(object)->emplace());
    };
    return type;
}

template <class T> constexpr Type describe_list() {
    Type type{.shape = Shape::list, .inner = &type_of<typename T::value_type>};
    type.access.size = [](void const* object) { return static_cast<T const*>(object)->size(); };
    type.access.at = [](void const* object, std::size_t i) -> void const* {
        return std::addressof((*static_cast<T const*>(object))[i]);
    };
    type.access.reserve = [](void* object, std::size_t size) {
        static_cast<T*>(object)->clear();
        static_cast<T*>(object)->reserve(size);
    };
    type.access.add = [](void* object) -> void* {
        return std::addressof(static_cast<T*>(object)->emplace_back());
    };
    return type;
}

template <class T> constexpr Type describe_map() {
    Type type{.shape = Shape::map, .inner = &type_of<typename T::mapped_type>};
    type.access.size = [](void const* object) { return static_cast<T const*>(object)->size(); };
    type.access.reserve = [](void* object, std::size_t) { static_cast<T*>(object)->clear(); };
    type.access.add_key = [](void* object, std::string key) -> void* {
        return std::addressof((*static_cast<T*>(object))[std::move(key)]);
    };
    type.access.each = [](void const* object, void* context, Access::UseEntry use) {
        for (auto const& [key, value] : *static_cast<T const*>(object))
            use(context, key, std::addressof(value));
    };
    return type;
}

template <class V> struct Choices;
template <class... A> struct Choices<std::variant<A...>> {
    static constexpr std::array<Type const*, sizeof...(A)> types{&type_of<A>...};
    static void* choose(void* object, std::size_t which) {
        auto& value = *static_cast<std::variant<A...>*>(object);
        void* chosen = nullptr;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            ((which == I ? static_cast<void>(chosen = std::addressof(value.template emplace<I>()))
                         : static_cast<void>(0)),
             ...);
        }(std::index_sequence_for<A...>{});
        return chosen;
    }
};

template <class T> constexpr Type describe_choice() {
    Type type{.shape = Shape::choice, .choices = Choices<T>::types};
    type.access.size = [](void const* object) { return static_cast<T const*>(object)->index(); };
    type.access.get = [](void const* object) {
        return std::visit([](auto const& value) -> void const* { return std::addressof(value); },
                          *static_cast<T const*>(object));
    };
    type.access.choose = &Choices<T>::choose;
    return type;
}

// REQUIRES: check_type<T>().
template <class T> constexpr Type describe() {
    if constexpr (std::is_same_v<T, bool>) {
        return {.shape = Shape::boolean};
    } else if constexpr (is_integer<T>) {
        return {.shape = Shape::integer, .is_signed = std::is_signed_v<T>, .bytes = sizeof(T)};
    } else if constexpr (std::is_same_v<T, double>) {
        return {.shape = Shape::number};
    } else if constexpr (std::is_same_v<T, std::string>) {
        return {.shape = Shape::string};
    } else if constexpr (std::is_enum_v<T>) {
        return {.shape = Shape::enumeration, .bytes = sizeof(T), .names = names_of<T>};
    } else if constexpr (is_duration<T>) {
        return {.shape = Shape::duration,
                .is_signed = std::is_signed_v<typename T::rep>,
                .bytes = sizeof(T),
                .tick_ms = std::ratio_divide<typename T::period, std::milli>::num};
    } else if constexpr (is_optional<T>) {
        return describe_optional<T>();
    } else if constexpr (is_list<T>) {
        return describe_list<T>();
    } else if constexpr (is_std_array<T>) {
        return {.shape = Shape::array,
                .bytes = sizeof(typename T::value_type),
                .length = std::tuple_size_v<T>,
                .inner = &type_of<typename T::value_type>};
    } else if constexpr (is_map<T>) {
        return describe_map<T>();
    } else if constexpr (is_variant<T>) {
        return describe_choice<T>();
    } else if constexpr (std::is_same_v<T, Json>) {
        return {.shape = Shape::json};
    } else if constexpr (Structure<T>) {
        return describe_structure<T>();
    } else {
        return {.shape = Shape::nothing};
    }
}

}  // namespace detail

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
