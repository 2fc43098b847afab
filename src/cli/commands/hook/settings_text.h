#pragma once
// Adds a hook to the text of an agent's settings, and removes it again. Every other byte stays as
// it is. Pure.

#include "cli/commands/hook/program.h"

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace dormouse::cli {

struct HookEntry {
    std::string command = {};   // for a shell
    std::int64_t limit_ms = 0;  // after which the agent ends the hook
};

// Returns the settings with this hook, in place of an older one of this program. The error says
// what is wrong with `text`.
[[nodiscard]] std::expected<std::string, std::string> with_hook(HookProgram const& program,
                                                                std::string_view text,
                                                                HookEntry const& entry);

// Returns the settings without the hook that with_hook() added.
[[nodiscard]] std::expected<std::string, std::string> without_hook(HookProgram const& program,
                                                                   std::string_view text);

}  // namespace dormouse::cli
