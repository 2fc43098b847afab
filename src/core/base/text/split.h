#pragma once
// Lists of texts. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace dormouse {

// The parts between `separator`s, trimmed; empty ones are left out. Views of `text`. Example:
// split_list("a, b,,c", ',') is a, b and c.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text, char separator);

[[nodiscard]] std::vector<std::string> lower_cased(std::vector<std::string> texts);

}  // namespace dormouse
