#pragma once
// Pending calls as tasks of the protocol, in the form of each era. Pure.

#include "json/json.h"
#include "mcp/elicitation.h"
#include "mcp/versions.h"

#include <string_view>

namespace dormouse::mcp {

// The key of the only input that a task asks its client for.
inline constexpr std::string_view task_input_key = "answer";

// The status in 2025-11-25, for a client that does not elicit.
[[nodiscard]] std::string_view task_status(json::View call);

// Adds the members of the task to an open object.
void write_task(json::Writer& out, json::View call, Era era, Elicits const& elicits);

// The task, in the extension with what belongs to its status: the result, or what is asked.
[[nodiscard]] Json detailed_task(json::View call, Era era, Elicits const& elicits);

// The answer to the request that made the task.
[[nodiscard]] Json created_task(json::View call, Era era);

}  // namespace dormouse::mcp
