#pragma once
// The files that `dormouse init` writes. Pure.

#include "cli/commands/init/found.h"

#include <optional>
#include <string>

namespace dormouse::cli {

struct Choices {
    std::optional<FoundModel> model;  // nullopt: scripted, which needs no provider
    bool approve = true;              // people are asked before the tool runs
};

inline constexpr std::string_view example_tool = "deploy.sh";

// A dormouse.toml; what was found and not chosen is in comments.
[[nodiscard]] std::string first_config(Choices const& choices, Installed const& found);
[[nodiscard]] std::string example_tool_text();

}  // namespace dormouse::cli
