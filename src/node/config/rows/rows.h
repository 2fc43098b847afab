#pragma once
// Helpers to write the rows of keys.cc: text<&Server::listen>("listen", address, "Its meaning.").

#include "config/keys.h"
#include "config/members.h"

#include <algorithm>
#include <array>

namespace dormouse::config::rows {

struct Range {
    std::int64_t min;
    std::int64_t max;
};

// A form of texts with its limits in bytes.
struct Text {
    Form form;
    std::int64_t min;
    std::int64_t max;
    [[nodiscard]] constexpr Text sized(std::int64_t from, std::int64_t to) const {
        return {form, from, to};
    }
};

inline constexpr std::int64_t second = 1'000;
inline constexpr std::int64_t hour = 3'600 * second;
inline constexpr std::int64_t day = 24 * hour;
inline constexpr std::int64_t year = 366 * day;
inline constexpr std::int64_t mib = 1'048'576;
inline constexpr std::int64_t many = 1'000'000;

inline constexpr Text any_text{Form::any, 0, 4'096};
inline constexpr Text some_text = any_text.sized(1, 4'096);
inline constexpr Text prose = any_text.sized(0, 262'144);
inline constexpr Text id{Form::id, 1, 64};
inline constexpr Text tool_name{Form::tool, 1, 64};
inline constexpr Text pattern{Form::pattern, 1, 64};
inline constexpr Text address{Form::address, 1, 255};
inline constexpr Text url{Form::url, 1, 2'048};
inline constexpr Text store_place{Form::store, 1, 4'096};
inline constexpr Text index_place{Form::index, 1, 4'096};
inline constexpr Text redis_place{Form::redis, 1, 4'096};
inline constexpr Text issuer{Form::issuer, 1, 2'048};
inline constexpr Text template_url{Form::template_url, 1, 2'048};
inline constexpr Text origin{Form::origin, 1, 2'048};
inline constexpr Text host{Form::host, 1, 255};
inline constexpr Text pointer{Form::pointer, 1, 1'024};
inline constexpr Text variable{Form::variable, 1, 128};
inline constexpr Text variables{Form::variables, 1, 128};
inline constexpr Text network{Form::network, 1, 64};
inline constexpr Text email{Form::email, 3, 254};
inline constexpr Text currency{Form::currency, 3, 3};
inline constexpr Text contact{Form::contact, 9, 2'048};
inline constexpr Text file{Form::file, 1, 4'096};

template <class... Path> struct OwnerOf;
template <class T, class M, class... More> struct OwnerOf<M T::*, More...> {
    using type = T;
};

template <auto first, auto... rest> constexpr auto& member_of(auto& object) {
    if constexpr (sizeof...(rest) == 0)
        return object.*first;
    else
        return member_of<rest...>(object.*first);
}

// The row's member, reached by `path`: <&Tool::http, &HttpTool::url>. Without a path, the section's
// finish() reads the key.
template <auto... path> constexpr Key to_member(Key key) {
    if constexpr (sizeof...(path) > 0) {
        using T = OwnerOf<decltype(path)...>::type;
        key.owner = &typeid(T);
        key.store = [](void* object, Value const& value) {
            take(value, member_of<path...>(*static_cast<T*>(object)));
        };
        key.current = [](Key const& row, void const* object) {
            return config::initial(row, member_of<path...>(*static_cast<T const*>(object)));
        };
        key.same = [](void const* one, void const* other) {
            return member_of<path...>(*static_cast<T const*>(one)) ==
                   member_of<path...>(*static_cast<T const*>(other));
        };
        key.copy = [](void* to, void const* from) {
            member_of<path...>(*static_cast<T*>(to)) =
                member_of<path...>(*static_cast<T const*>(from));
        };
        key.initial = [](Key const& row) {
            T const object{};
            return config::initial(row, member_of<path...>(object));
        };
    }
    return key;
}

template <auto... path> constexpr Key flag(std::string_view name, std::string_view about) {
    return to_member<path...>({.name = name, .kind = Kind::flag, .about = about});
}
template <auto... path> constexpr Key table(std::string_view name, std::string_view about) {
    return to_member<path...>({.name = name, .kind = Kind::table, .about = about});
}
template <auto... path> constexpr Key mixed(std::string_view name, std::string_view about) {
    return to_member<path...>({.name = name, .kind = Kind::mixed, .about = about});
}
template <auto... path>
constexpr Key number(std::string_view name, Range range, std::string_view about) {
    return to_member<path...>(
        {.name = name, .kind = Kind::number, .about = about, .min = range.min, .max = range.max});
}
template <auto... path> constexpr Key price(std::string_view name, std::string_view about) {
    return to_member<path...>(
        {.name = name, .kind = Kind::price, .about = about, .min = 0, .max = 10'000});
}
template <auto... path>
constexpr Key duration(std::string_view name, Range range, std::string_view about) {
    return to_member<path...>(
        {.name = name, .kind = Kind::duration, .about = about, .min = range.min, .max = range.max});
}
template <auto... path>
constexpr Key duration_or_none(std::string_view name, Range range, std::string_view about) {
    Key out = duration<path...>(name, range, about);
    out.none = true;
    return out;
}
template <auto... path>
constexpr Key word(std::string_view name, std::string_view words, std::string_view about) {
    return to_member<path...>({.name = name, .kind = Kind::word, .about = about, .words = words});
}
template <auto... path>
constexpr Key text(std::string_view name, Text const& form, std::string_view about) {
    return to_member<path...>({.name = name,
                               .kind = Kind::text,
                               .about = about,
                               .min = form.min,
                               .max = form.max,
                               .form = form.form});
}
template <auto... path>
constexpr Key texts(std::string_view name, Text const& form, std::string_view about) {
    Key out = text<path...>(name, form, about);
    out.kind = Kind::texts;
    return out;
}

// The rows of a section, or of some of its kinds.
template <std::size_t n>
constexpr std::array<Key, n> of(std::string_view section, Key const (&rows)[n],
                                std::string_view only = {}) {
    std::array<Key, n> out{};
    std::ranges::copy(rows, out.begin());
    for (Key& row : out) {
        row.section = section;
        row.only = only;
    }
    return out;
}

// The same rows, whose values take effect at the next start.
template <std::size_t n> constexpr std::array<Key, n> at_restart(std::array<Key, n> rows) {
    for (Key& row : rows) row.applies = Applies::restart;
    return rows;
}

template <std::size_t... n> constexpr auto joined(std::array<Key, n> const&... parts) {
    std::array<Key, (n + ...)> out{};
    auto to = out.begin();
    ((to = std::ranges::copy(parts, to).out), ...);
    return out;
}

}  // namespace dormouse::config::rows
