#include "mcp/task_state.h"

#include "base/text/iso_time.h"
#include "mcp/questions.h"
#include "mcp/results.h"

#include <algorithm>
#include <optional>
#include <string>

namespace dormouse::mcp {
namespace {

constexpr std::int64_t poll_ms = 5'000;

enum class TaskStatus : std::uint8_t { working, input_required, completed, failed, cancelled };

std::string_view word_of(TaskStatus status) {
    switch (status) {
        case TaskStatus::working: return "working";
        case TaskStatus::input_required: return "input_required";
        case TaskStatus::completed: return "completed";
        case TaskStatus::failed: return "failed";
        case TaskStatus::cancelled: return "cancelled";
    }
    return "failed";
}

// A result with isError is `failed` in 2025-11-25 and `completed` in the extension.
TaskStatus status_of(json::View call, Era era, Elicits const& elicits) {
    auto const status = call["status"].string_or("");
    if (status == "waiting" || status == "processing") {
        bool const asks = elicits.any() && may_elicit(call);
        return asks ? TaskStatus::input_required : TaskStatus::working;
    }
    if (status == "cancelled") return TaskStatus::cancelled;
    if (status == "expired" || status == "completed") return TaskStatus::completed;
    return era == Era::stateless ? TaskStatus::completed : TaskStatus::failed;
}

std::string message_of(json::View call, TaskStatus status) {
    switch (status) {
        case TaskStatus::working: return "A person is asked.";
        case TaskStatus::input_required: return "A person is asked; so may the client's user be.";
        case TaskStatus::completed: return "The question is answered.";
        case TaskStatus::cancelled: return "The question was cancelled.";
        case TaskStatus::failed: break;
    }
    return call["error"].string_or("There is no answer.");
}

std::int64_t created_ms(json::View call) { return call["time"]["created"].integer_or(0); }

std::int64_t updated_ms(json::View call) {
    auto latest = std::max(created_ms(call), call["time"]["completed"].integer_or(0));
    call["progress"].elements(
        [&](json::View one) { latest = std::max(latest, one["at"].integer_or(0)); });
    return latest;
}

}  // namespace

std::string_view task_status(json::View call) {
    return word_of(status_of(call, Era::with_initialize, {}));
}

void write_task(json::Writer& out, json::View call, Era era, Elicits const& elicits) {
    bool const stateless = era == Era::stateless;
    auto const status = status_of(call, era, elicits);
    out.member("taskId", call["id"].string_or("")).member("status", word_of(status));
    out.member("statusMessage", message_of(call, status));
    out.member("createdAt", iso_time(from_ms(created_ms(call))));
    out.member("lastUpdatedAt", iso_time(from_ms(updated_ms(call))));
    auto const deadline = call["timeout"].integer();
    auto const ttl = deadline ? std::optional(*deadline - created_ms(call)) : std::nullopt;
    out.member(stateless ? "ttlMs" : "ttl", ttl);
    out.member(stateless ? "pollIntervalMs" : "pollInterval", poll_ms);
}

Json detailed_task(json::View call, Era era, Elicits const& elicits) {
    json::Writer out;
    out.begin_object();
    write_task(out, call, era, elicits);
    auto const status = status_of(call, era, elicits);
    if (era == Era::stateless && status == TaskStatus::completed)
        out.member("result", tool_result(answer_of(call)));
    if (era == Era::stateless && status == TaskStatus::input_required) {
        out.key("inputRequests").begin_object().key(task_input_key).begin_object();
        out.member("method", "elicitation/create");
        out.member("params", elicitation(call, elicits, {}, era)).end_object().end_object();
    }
    return out.end_object().json();
}

Json created_task(json::View call, Era era) {
    json::Writer out;
    out.begin_object();
    if (era == Era::stateless) {
        write_task(out.member("resultType", "task"), call, era, {});
        return out.end_object().json();
    }
    out.key("task").begin_object();
    write_task(out, call, era, {});
    return out.end_object().end_object().json();
}

}  // namespace dormouse::mcp
