#pragma once
// The request of a coding agent to its hook, and the answer in the agent's own form. Pure.

#include <dormouse/json.h>

#include "cli/commands/hook/program.h"

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::cli {

struct HookQuestion {
    std::string event = {};
    std::string tool = {};
    std::string folder = {};   // where the agent works; may be empty
    std::string session = {};  // the agent's own; may be empty
    Json input = {};           // an object: exactly what the agent would run
};

// The decision of a person.
struct HookDecision {
    bool allowed = false;
    std::string by = {};
    std::string reason = {};
};

inline constexpr std::size_t hook_input_max = std::size_t{1} << 20;
inline constexpr std::size_t hook_arguments_max = std::size_t{64} << 10;  // the server's limit

// The error says what is wrong with `text`.
[[nodiscard]] std::expected<HookQuestion, std::string> read_question(HookProgram const& program,
                                                                     std::string_view text);

// The question for people, as Markdown: "Claude Code wants to run Bash in /home/ann/shop".
[[nodiscard]] std::string heading(HookProgram const& program, HookQuestion const& question);

// Standard output of the hook. Without a decision the agent asks the person itself.
[[nodiscard]] std::string decision_text(HookProgram const& program, std::string_view event,
                                        std::optional<HookDecision> const& decision);

}  // namespace dormouse::cli
