#pragma once
// Checks the forms of texts in the configuration.

#include "config/keys.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::config {

// nullopt: `text` has the form. Otherwise what to do: "write HOST:PORT, for example
// 127.0.0.1:3676". For files and variables it checks only the form of their names.
[[nodiscard]] std::optional<std::string> misfit(Form form, std::string_view text);

// Returns true if `pattern` matches `name`: "*" is any text, also an empty one.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

}  // namespace dormouse::config
