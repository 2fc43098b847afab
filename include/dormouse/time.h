#pragma once
// Instants and durations are whole milliseconds; an instant counts from the Unix epoch (UTC, no
// leap seconds).

#include <chrono>
#include <cstdint>

namespace dormouse::inline v0 {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

[[nodiscard]] constexpr std::int64_t to_ms(Time time) { return time.time_since_epoch().count(); }
[[nodiscard]] constexpr Time from_ms(std::int64_t ms) { return Time(Duration(ms)); }

}  // namespace dormouse::inline v0
