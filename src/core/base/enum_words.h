#pragma once
// Texts of an enumeration: the names of its enumerators. So the words of JSON, the journal and the
// command line are defined once. Renaming an enumerator changes what is stored and sent;
// tests/vocabulary.py notices it. REQUIRES: the values are 0, 1, 2 and so on.

#include <dormouse/type.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dormouse {

template <class E>
inline constexpr auto words_of = [] {
    constexpr auto& names = detail::names_of<E>;
    static_assert(names.back().value + 1 == std::int64_t{names.size()});
    std::array<std::string_view, names.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = names[i].name;
    return out;
}();

template <class E> [[nodiscard]] constexpr std::string_view word_of(E value) {
    return words_of<E>.at(static_cast<std::size_t>(value));
}

// The value with this text; nullopt: none.
template <class E> [[nodiscard]] constexpr std::optional<E> from_word(std::string_view word) {
    for (std::size_t i = 0; i < words_of<E>.size(); ++i) {
        if (words_of<E>[i] == word) return static_cast<E>(i);
    }
    return std::nullopt;
}

// "a, b or c"
[[nodiscard]] inline std::string one_of(std::span<std::string_view const> words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
        out += words[i];
    }
    return out;
}

}  // namespace dormouse
