#pragma once
// Tasks of a server: a call whose result comes later. Reads both forms, that of 2025-11-25 (the
// task is the member `task` of the call's result, and its outcome the result of `tasks/result`) and
// that of the extension for 2026-07-28 (the result is the task, which gets its outcome). Pure.

#include "agent/tool.h"
#include "json/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::mcp_client {

inline constexpr std::string_view task_extension = "io.modelcontextprotocol/tasks";
inline constexpr std::size_t task_id_bytes_max = 1'024;
inline constexpr std::size_t task_status_bytes_max = 1'024;
// Between two requests for a task, whatever the server wants.
inline constexpr Duration task_interval_min{1'000};
inline constexpr Duration task_interval_max{300'000};
inline constexpr Duration task_interval_default{5'000};

enum class TaskStatus : std::uint8_t { working, input_required, completed, failed, cancelled };

struct TaskState {
    std::string id = {};
    TaskStatus status = TaskStatus::working;
    std::string message = {};  // for people, cut
    Duration interval = task_interval_default;
};

// The task that answers a call; nullopt: the result is no task.
[[nodiscard]] std::optional<TaskState> read_created(json::View result);
// A task as `tasks/get` and notifications have it; nullopt: it is none, or its status is unknown.
[[nodiscard]] std::optional<TaskState> read_task(json::View task);

// The outcome that an ended task has itself. nullopt: `tasks/result` has it.
[[nodiscard]] std::optional<agent::ToolResult> outcome_of(TaskState const& state, json::View task);

// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
[[nodiscard]] Json task_params(std::string const& id);

// Returns the pause of a call whose result comes from the task.
[[nodiscard]] session::PauseTerms pause_of(TaskState const& state, Duration limit);

}  // namespace dormouse::mcp_client
