#include "mcp_client/requests/task.h"

#include "base/text/cut.h"
#include "mcp_client/requests/call_result.h"

#include <algorithm>

namespace dormouse::mcp_client {
namespace {

std::optional<TaskStatus> status_of(std::string_view word) {
    if (word == "working" || word == "submitted") return TaskStatus::working;
    if (word == "input_required") return TaskStatus::input_required;
    if (word == "completed") return TaskStatus::completed;
    if (word == "failed") return TaskStatus::failed;
    if (word == "cancelled") return TaskStatus::cancelled;
    return std::nullopt;
}

Duration interval_of(json::View task) {
    for (std::string_view const name : {"pollIntervalMs", "pollInterval"})
        if (auto const ms = task[name].integer())
            return std::clamp(Duration(*ms), task_interval_min, task_interval_max);
    return task_interval_default;
}

std::string why_failed(TaskState const& state, json::View task) {
    auto const error = task["error"]["message"].string_or("");
    auto const& why = error.empty() ? state.message : error;
    return why.empty() ? "the task failed" : cut_with_mark(why, task_status_bytes_max, "…");
}

}  // namespace

std::optional<TaskState> read_task(json::View task) {
    auto const status = status_of(task["status"].string_or(""));
    auto id = task["taskId"].string_or("");
    if (!status || id.empty() || id.size() > task_id_bytes_max) return std::nullopt;
    return TaskState{
        .id = std::move(id),
        .status = *status,
        .message = cut_with_mark(task["statusMessage"].string_or(""), task_status_bytes_max, "…"),
        .interval = interval_of(task)};
}

std::optional<TaskState> read_created(json::View result) {
    if (result["resultType"].string_or("") == "task") return read_task(result);
    return read_task(result["task"]);
}

std::optional<agent::ToolResult> outcome_of(TaskState const& state, json::View task) {
    switch (state.status) {
        case TaskStatus::completed:
            if (task["result"].kind() == json::Kind::object) return read_result(task["result"]);
            return std::nullopt;
        case TaskStatus::failed:
            if (task["error"].kind() == json::Kind::object)
                return agent::Failed{why_failed(state, task)};
            return std::nullopt;
        case TaskStatus::cancelled:
            return agent::Failed{"the server has cancelled the task" +
                                 (state.message.empty() ? "" : ": " + state.message)};
        case TaskStatus::working:
        case TaskStatus::input_required: break;
    }
    return std::nullopt;
}

Json task_params(std::string const& id) {
    json::Writer out;
    return out.begin_object().member("taskId", id).end_object().json();
}

session::PauseTerms pause_of(TaskState const& state, Duration limit) {
    session::PauseTerms out;
    out.reason = session::PauseReason::tool_result;
    out.continuation = session::Continuation::tool_response;
    out.external_ref = state.id;
    out.message = state.message;
    out.timeout = limit;
    out.poll_every = task_interval_min;
    return out;
}

}  // namespace dormouse::mcp_client
