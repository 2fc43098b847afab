#pragma once
// `dormouse hook install` and `uninstall`: the settings of a coding agent.

#include "cli/commands/commands.h"

namespace dormouse::cli {

// Prints what it changed.
[[nodiscard]] Outcome<int> edit_settings(Context const& context, HookArgs const& args);

}  // namespace dormouse::cli
