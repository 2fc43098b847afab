#pragma once
// Parses "2026-11-22T08:00:00Z", also with a fraction of a second or an offset.

#include <dormouse/time.h>

#include <optional>
#include <string_view>

namespace dormouse::acp {

// Returns nullopt if `text` is not such a time.
[[nodiscard]] std::optional<Time> parse_iso_time(std::string_view text);

}  // namespace dormouse::acp
