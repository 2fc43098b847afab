#pragma once
// The stored form of values. Private to the writer's .cc files.

#include "port/stored_row.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::store::postgres {

using port::bytes_of;
using port::lines_of;

[[nodiscard]] constexpr std::int64_t signed_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}
[[nodiscard]] constexpr std::int64_t stored(port::Stamp stamp) {
    return static_cast<std::int64_t>(stamp);
}
[[nodiscard]] inline std::optional<std::int64_t> maybe_ms(std::optional<Time> const& time) {
    return time ? std::optional(to_ms(*time)) : std::nullopt;
}

}  // namespace dormouse::store::postgres
