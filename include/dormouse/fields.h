#pragma once
// Reflection of a plain struct without a macro: the number of its fields, their names, and
// references to them. Depends on how g++ and clang spell a pointer to a member in a function's
// name; the assertions at the end check it.

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace dormouse::inline v0::detail {

inline constexpr std::size_t fields_max = 32;

// Converts to a value of any type. Used only in unevaluated expressions.
struct AnyField {
    template <class T> operator T&() const& { std::unreachable(); }
    template <class T> operator T&&() const&& { std::unreachable(); }
};
// Converts to a base class of T and to nothing else.
template <class T> struct AnyBase {
    template <class Base>
        requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
    operator Base&() const& {
        std::unreachable();
    }
    template <class Base>
        requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
    operator Base&&() const&& {
        std::unreachable();
    }
};

template <std::size_t> using AnyFieldAt = AnyField;

template <class T, std::size_t... I> constexpr bool takes(std::index_sequence<I...>) {
    return requires { T{AnyFieldAt<I>{}...}; };
}

template <class T, std::size_t N = fields_max + 1> constexpr std::size_t field_count() {
    if constexpr (N == 0) {
        return 0;
    } else if constexpr (takes<T>(std::make_index_sequence<N>{})) {
        return N;
    } else {
        return field_count<T, N - 1>();
    }
}

template <class T> constexpr bool has_base() {
    return requires { T{AnyBase<T>{}}; };
}

// A value in braces initialises a whole array; one without braces only its first element.
template <class T, std::size_t... Before, std::size_t... After>
constexpr bool one_value_at(std::index_sequence<Before...>, std::index_sequence<After...>) {
    return requires { T{AnyFieldAt<Before>{}..., {}, AnyFieldAt<After>{}...}; };
}
template <class T> constexpr bool each_field_is_one_value() {
    constexpr std::size_t n = field_count<T>();
    return []<std::size_t... I>(std::index_sequence<I...>) {
        return (
            one_value_at<T>(std::make_index_sequence<I>{}, std::make_index_sequence<n - 1 - I>{}) &&
            ...);
    }(std::make_index_sequence<n>{});
}

// References to all fields, in order. `T` may be const.
// clang-format off
template <class T> constexpr auto tie_fields(T& value) {
    constexpr std::size_t n = field_count<std::remove_const_t<T>>();
#define DORMOUSE_RUNG(N, ...) \
    if constexpr (n == N) { auto& [__VA_ARGS__] = value; return std::tie(__VA_ARGS__); } else
        DORMOUSE_RUNG(1, f1)
        DORMOUSE_RUNG(2, f1, f2)
        DORMOUSE_RUNG(3, f1, f2, f3)
        DORMOUSE_RUNG(4, f1, f2, f3, f4)
        DORMOUSE_RUNG(5, f1, f2, f3, f4, f5)
        DORMOUSE_RUNG(6, f1, f2, f3, f4, f5, f6)
        DORMOUSE_RUNG(7, f1, f2, f3, f4, f5, f6, f7)
        DORMOUSE_RUNG(8, f1, f2, f3, f4, f5, f6, f7, f8)
        DORMOUSE_RUNG(9, f1, f2, f3, f4, f5, f6, f7, f8, f9)
        DORMOUSE_RUNG(10, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10)
        DORMOUSE_RUNG(11, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11)
        DORMOUSE_RUNG(12, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12)
        DORMOUSE_RUNG(13, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13)
        DORMOUSE_RUNG(14, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14)
        DORMOUSE_RUNG(15, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15)
        DORMOUSE_RUNG(16, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16)
        DORMOUSE_RUNG(17, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17)
        DORMOUSE_RUNG(18, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18)
        DORMOUSE_RUNG(19, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19)
        DORMOUSE_RUNG(20, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20)
        DORMOUSE_RUNG(21, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21)
        DORMOUSE_RUNG(22, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22)
        DORMOUSE_RUNG(23, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23)
        DORMOUSE_RUNG(24, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24)
        DORMOUSE_RUNG(25, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25)
        DORMOUSE_RUNG(26, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25, f26)
        DORMOUSE_RUNG(27, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27)
        DORMOUSE_RUNG(28, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28)
        DORMOUSE_RUNG(29, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29)
        DORMOUSE_RUNG(30, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30)
        DORMOUSE_RUNG(31, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31)
        DORMOUSE_RUNG(32, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
        f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32)
        return std::tie();
#undef DORMOUSE_RUNG
}
// clang-format on

template <class T> struct Phantom {
    T value;
};
template <class T> extern Phantom<T> const phantom;  // never defined: only its addresses are used

template <class Pointer> struct Named {
    Pointer pointer;
};
template <class Pointer> Named(Pointer) -> Named<Pointer>;

template <auto Pointer> consteval std::string_view spelled() { return __PRETTY_FUNCTION__; }

// A field named after a C++ keyword ends with an underscore, which is not part of its JSON name.
constexpr std::string_view without_underscore(std::string_view name) {
    return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

template <class T, std::size_t I> consteval std::string_view field_name() {
    constexpr auto pointer = std::addressof(std::get<I>(tie_fields(phantom<T>.value)));
    std::string_view text = spelled<Named{pointer}>();
#if defined(__clang__)  // …phantom<X>.value.city}]
    text = text.substr(0, text.rfind("}]"));
    return without_underscore(text.substr(text.rfind('.') + 1));
#else  // …(& phantom<X>.Phantom<X>::value.X::city)}; …
    text = text.substr(0, text.rfind(")}"));
    return without_underscore(text.substr(text.rfind("::") + 2));
#endif
}

template <class T> consteval auto field_names() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<std::string_view, sizeof...(I)>{field_name<T, I>()...};
    }(std::make_index_sequence<field_count<T>()>{});
}

// The spelling of several enumerators of E in one text: one function is compiled for all.
template <class E, E... Values> consteval std::string_view spelled_values() {
    return __PRETTY_FUNCTION__;
}

struct FieldsProbe {
    int first;
    char const* second_;  // NOLINT(readability-identifier-naming): the underscore is left out
};
static_assert(field_count<FieldsProbe>() == 2 && field_name<FieldsProbe, 0>() == "first" &&
                  field_name<FieldsProbe, 1>() == "second",
              "this compiler spells the names of fields in a way that is not known here");

}  // namespace dormouse::inline v0::detail

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#pragma GCC visibility pop
