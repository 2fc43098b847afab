#pragma once
// The stored form of values. Private to the writer's .cc files.

#include "port/store_rows.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::store::postgres {

[[nodiscard]] constexpr std::int64_t signed_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}
[[nodiscard]] constexpr std::int64_t stored(port::Stamp stamp) {
    return static_cast<std::int64_t>(stamp);
}
[[nodiscard]] inline std::optional<std::int64_t> maybe_ms(std::optional<Time> const& time) {
    return time ? std::optional(to_ms(*time)) : std::nullopt;
}
[[nodiscard]] inline std::string_view bytes_of(auto const& bits) {
    return {reinterpret_cast<char const*>(bits.data()), bits.size()};
}
// One name a line.
[[nodiscard]] inline std::string lines_of(std::vector<std::string> const& names) {
    std::string out;
    for (auto const& name : names) out += name + "\n";
    return out;
}

}  // namespace dormouse::store::postgres
