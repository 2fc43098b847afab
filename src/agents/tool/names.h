#pragma once
// Rules for the names and declarations of tools, and one-line error texts.

#include <dormouse/tool.h>

#include "json/json.h"
#include "json/schema/schema.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::tools {

inline constexpr std::size_t name_max = 64;

// Returns why the name is invalid: names consist of letters, digits, _ and -, which every provider
// accepts. Empty: it is valid.
[[nodiscard]] std::string wrong_name(std::string_view name);
// Returns what is wrong with a declaration; empty: nothing.
[[nodiscard]] std::string wrong(Declaration const& declaration);
// Returns why the tool's own validator rejects the result; an exception rejects it too. nullopt: it
// is valid.
[[nodiscard]] std::optional<std::string> refusal_of(Declaration const& declaration,
                                                    Json const& result);
// Returns " /pointer message; …", each violation once.
[[nodiscard]] std::string describe(std::vector<json::Violation> const& violations);

}  // namespace dormouse::tools
