#include "session/budget/cost.h"

#include "base/check.h"

#include <algorithm>

namespace dormouse::session {

namespace {

// Adds tokens × price to `total`; false: the sum has no place in it.
bool add(std::int64_t& total, std::int64_t tokens, std::int64_t price) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(std::max<std::int64_t>(tokens, 0), price, &product) &&
           !__builtin_add_overflow(total, product, &total);
}

}  // namespace

std::optional<std::int64_t> cost_of(Usage const& usage, Prices const& prices) {
    constexpr std::int64_t per_tokens = 1'000'000;
    std::int64_t const input = std::max<std::int64_t>(usage.input_tokens, 0);
    if (input == 0 && usage.output_tokens <= 0) return std::nullopt;
    // Both are part of the input; a provider may report more of them than of all.
    std::int64_t const cached = std::clamp<std::int64_t>(usage.cached_tokens, 0, input);
    std::int64_t const rest = input - cached;
    std::int64_t const written = std::clamp<std::int64_t>(usage.cache_written_tokens, 0, rest);
    CHECK(cached + written <= input);
    std::int64_t total = per_tokens / 2;
    if (add(total, rest - written, prices.input) && add(total, cached, prices.cache_read) &&
        add(total, written, prices.cache_write) && add(total, usage.output_tokens, prices.output))
        return total / per_tokens;
    return std::nullopt;
}

Cost cost_since(Cost const& before, Cost const& now) {
    Cost out;
    for (auto const& [currency, micros] : now) {
        auto const found = before.find(currency);
        bool const continues = found != before.end() && found->second <= micros;
        out[currency] = continues ? micros - found->second : micros;
    }
    CHECK(out.size() == now.size());
    return out;
}

}  // namespace dormouse::session
