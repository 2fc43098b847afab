#pragma once
// The body of an HTTP tool: JSON in which {"$input": "/pointer"} is replaced by a value of the
// arguments and {"$call": "pendingID"} by a value of the call. There are no other expressions.

#include "agent/tool.h"
#include "json/json.h"

namespace dormouse::external {

// Errors: bad_value, which says what is wrong and what to do.
[[nodiscard]] Result<void> check_body(Json const& body);

// REQUIRES: check_body(body). A value that the arguments do not have becomes null.
[[nodiscard]] Json fill_body(Json const& body, agent::ToolCall const& call);

// {pendingID, sessionID, callID, tool, input, attempt, callbackURL, deadline}
[[nodiscard]] Json default_body(agent::ToolCall const& call);

}  // namespace dormouse::external
