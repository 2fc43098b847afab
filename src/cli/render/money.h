#pragma once
// Amounts of money for people.

#include "json/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dormouse::cli {

// "$1.25", "EUR 0.0034". Amounts below a hundredth have four decimals.
[[nodiscard]] std::string money(std::int64_t micros, std::string_view currency);
// The `cost` of an object: amounts in millionths by currency. "$1.25 + EUR 3.00"; empty: unknown.
[[nodiscard]] std::string cost_text(std::map<std::string, std::int64_t> const& cost);
[[nodiscard]] std::map<std::string, std::int64_t> read_cost(json::View cost);

}  // namespace dormouse::cli
