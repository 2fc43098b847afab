#pragma once
// Reads a query parameter that takes the words of an enumeration.

#include "base/enum_words.h"
#include "http/resources/shared.h"

namespace dormouse::http {

// Returns nullopt when absent or unknown; query.error is then set for unknown words.
template <class E> [[nodiscard]] std::optional<E> query_word(Query& query, std::string_view name) {
    auto const given = query.request.query_value(name);
    if (!given) return std::nullopt;
    auto const value = from_word<E>(*given);
    if (!value) query.error = bad_value("?" + std::string(name), "must be " + one_of(words_of<E>));
    return value;
}

}  // namespace dormouse::http
