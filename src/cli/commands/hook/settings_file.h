#pragma once
// The file of an agent's settings: where it is, and how it is replaced.

#include "cli/client/failure.h"
#include "cli/client/saved/settings.h"
#include "cli/commands/hook/program.h"

#include <optional>
#include <string>

namespace dormouse::cli {

// The settings of the person, or with `here` those of the current folder. Pure.
[[nodiscard]] Outcome<std::string> settings_path(HookProgram const& program, Environment const& env,
                                                 bool here);

// Returns the text of the file; nullopt: there is none.
[[nodiscard]] Outcome<std::optional<std::string>> settings_of_file(std::string const& path);

// Replaces the file at once, so that nobody reads half of it; a new one gets its folders. Keeps
// the mode of the file, and symbolic links to it.
[[nodiscard]] Outcome<void> replace_settings(std::string const& path, std::string const& text);

}  // namespace dormouse::cli
