#pragma once
// Durations as people write them.

#include <dormouse/time.h>

#include <string>

namespace dormouse {

// "24h", "90s": the largest unit that gives an integer. parse_duration() reads it.
[[nodiscard]] std::string duration_text(Duration duration);

}  // namespace dormouse
