#pragma once
// What tools may be called, and how mistakes are told in a line.

#include <dormouse/tool.h>

#include "json/json.h"
#include "json/schema.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::tools {

inline constexpr std::size_t name_max = 64;

// Letters, digits, _ and -: what every provider takes. Empty: it is such a name.
[[nodiscard]] std::string wrong_name(std::string_view name);
// Whatever is wrong with a declaration; empty: nothing.
[[nodiscard]] std::string wrong(Declaration const& declaration);
// Why the tool's own code refuses the result; what it throws refuses too. nullopt: it does not.
[[nodiscard]] std::optional<std::string> refusal_of(Declaration const& declaration,
                                                    Json const& result);
// " /pointer message; …", each once.
[[nodiscard]] std::string told(std::vector<json::Violation> const& violations);

}  // namespace dormouse::tools
