#pragma once
// The forms that texts of the configuration have.

#include "config/keys.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::config {

// nullopt: `text` has the form. Else what to do: "write HOST:PORT, for example 127.0.0.1:3676".
// The forms that name files and variables are looked at for their own form only.
[[nodiscard]] std::optional<std::string> misfit(Form form, std::string_view text);

// Whether `name` is one of those that `pattern` stands for: "*" is any text, also none.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

// "24h", "90s": the largest unit that gives a whole number.
[[nodiscard]] std::string duration_text(std::int64_t ms);

}  // namespace dormouse::config
