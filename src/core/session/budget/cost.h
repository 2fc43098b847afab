#pragma once
// The cost of model replies. The cost of a reply is computed once, from the prices at that time,
// and stored with the event: later changes of prices do not change it.

#include "session/vocabulary.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::session {

// Millionths of the currency for a million tokens.
struct Prices {
    std::string currency = "USD";
    std::int64_t input = 0;
    std::int64_t output = 0;
    std::int64_t cache_read = 0;   // of Usage::cached_tokens
    std::int64_t cache_write = 0;  // of Usage::cache_written_tokens
    friend bool operator==(Prices const&, Prices const&) = default;
};

// Rounds to the nearest millionth. nullopt: the provider counted no tokens, or the numbers are too
// large.
[[nodiscard]] std::optional<std::int64_t> cost_of(Usage const& usage, Prices const& prices);

// Returns the difference between two reports of the same total. A total that is less than the one
// before, or in another currency, begins again at 0.
[[nodiscard]] Cost cost_since(Cost const& before, Cost const& now);

}  // namespace dormouse::session
