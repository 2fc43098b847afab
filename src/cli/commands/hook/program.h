#pragma once
// The coding agents whose permission questions `dormouse hook` asks, and what they call things.

#include <array>
#include <string_view>

namespace dormouse::cli {

struct HookProgram {
    std::string_view word;   // on the command line
    std::string_view title;  // for people
    std::string_view event;  // the hook that `install` adds; empty: a plugin file instead
    // The tools whose calls run the hook; empty: all.
    std::string_view matcher;
    std::string_view folder;  // of a project's settings
    std::string_view file;    // the settings in that folder
    bool counts_ms;           // its time limits are in milliseconds, not in seconds
};

inline constexpr HookProgram claude_code_hook{
    "claude-code", "Claude Code", "PermissionRequest", "*", ".claude", "settings.json", false};
inline constexpr HookProgram codex_hook{"codex",      "Codex", "PermissionRequest", "", ".codex",
                                        "hooks.json", false};
inline constexpr HookProgram opencode_hook{"opencode",  "opencode",           "",  "",
                                           ".opencode", "plugin/dormouse.js", true};
// Gemini CLI runs the hook before every tool, so only those that change something are named.
inline constexpr HookProgram gemini_hook{
    "gemini",     "Gemini CLI",
    "BeforeTool", "run_shell_command|write_file|replace|web_fetch|mcp_.*",
    ".gemini",    "settings.json",
    true};

inline constexpr std::array hook_programs{&claude_code_hook, &codex_hook, &opencode_hook,
                                          &gemini_hook};

// REQUIRES: `word` is the word of one.
[[nodiscard]] constexpr HookProgram const& hook_program(std::string_view word) {
    for (HookProgram const* const program : hook_programs) {
        if (program->word == word) return *program;
    }
    return claude_code_hook;
}

}  // namespace dormouse::cli
