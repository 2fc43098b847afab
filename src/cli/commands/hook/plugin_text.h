#pragma once
// The plugin file that asks for opencode, which has no hooks of its own. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// The plugin that runs `command`: a program and its arguments.
[[nodiscard]] std::string plugin_text(std::vector<std::string> const& command);

// Returns true if plugin_text() of this or another release wrote the file.
[[nodiscard]] bool is_own_plugin(std::string_view text);

}  // namespace dormouse::cli
