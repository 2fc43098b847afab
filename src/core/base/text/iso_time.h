#pragma once
// Times as text (ISO 8601, UTC). Pure.

#include <dormouse/time.h>

#include <optional>
#include <string>
#include <string_view>

namespace dormouse {

// Example: 2026-11-21T19:40:00.007Z. REQUIRES: a year from 0 to 9999.
[[nodiscard]] std::string iso_time(Time at);
// For people: 2026-11-21 19:40 UTC.
[[nodiscard]] std::string utc_minute(Time at);
// Parses 2026-11-22T08:00:00Z, also with a fraction of a second or an offset; nullopt: `text` is no
// such time.
[[nodiscard]] std::optional<Time> parse_iso_time(std::string_view text);

}  // namespace dormouse
