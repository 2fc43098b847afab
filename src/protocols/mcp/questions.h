#pragma once
// Makes the question of a tool a pending call, and the outcome of that call the answer of the tool.
// Pure.

#include "json/json.h"
#include "mcp/api.h"

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::mcp {

inline constexpr std::string_view approve_tool = "approve";
inline constexpr std::string_view ask_tool = "ask_human";

// Returns true if each call of the tool asks a question.
[[nodiscard]] inline bool asks_question(std::string_view tool) {
    return tool == approve_tool || tool == ask_tool;
}

// The terms of a pending call that is a task of MCP, besides its question.
struct TaskTerms {
    std::string owner;        // the name of the token
    std::int64_t ttl_ms = 0;  // also the deadline of the call
};

// The external reference of all tasks of this owner: it finds them in lists.
[[nodiscard]] std::string task_reference(std::string_view owner);

// The request that makes the pending call. REQUIRES: asks_question(tool), and the arguments fit
// its schema. `project`: empty is the only one of the token. `task`: nullopt is not a task.
[[nodiscard]] std::expected<ApiRequest, Refusal> question_of(std::string const& project,
                                                             std::string_view tool,
                                                             json::View arguments,
                                                             std::optional<TaskTerms> const& task);

[[nodiscard]] std::string pending_path(std::string_view id);

// The answer of the tool whose question this pending call is; for a question that waits,
// instructions for collecting the answer.
[[nodiscard]] ToolText answer_of(json::View call);

// The answer that allows nothing, as Claude Code's --permission-prompt-tool reads it.
[[nodiscard]] std::string denied(std::string const& why);

}  // namespace dormouse::mcp
