#pragma once
// The body of an HTTP tool: JSON in which {"$input": "/pointer"} stands for a value of the
// arguments and {"$call": "pendingID"} for one of the call. No other expressions.

#include "agent/tool.h"
#include "json/json.h"

namespace dormouse::external {

// Errors: bad_value, with what is wrong and what to do.
[[nodiscard]] Result<void> check_body(Json const& body);

// REQUIRES: check_body(body). What the arguments do not have is null.
[[nodiscard]] Json fill_body(Json const& body, agent::ToolCall const& call);

// {pendingID, sessionID, callID, tool, input, attempt, callbackURL, deadline}
[[nodiscard]] Json usual_body(agent::ToolCall const& call);

}  // namespace dormouse::external
