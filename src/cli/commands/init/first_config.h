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

// A dormouse.toml; what was found and not chosen is in comments. `file`: its path, for the command
// that checks it; empty: that command finds it.
[[nodiscard]] std::string first_config(Choices const& choices, Installed const& found,
                                       std::string const& file);
[[nodiscard]] std::string example_tool_text();

}  // namespace dormouse::cli
