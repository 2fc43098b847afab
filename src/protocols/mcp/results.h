#pragma once
// The answers of tools as results and faults of the protocol. Pure.

#include "json/json.h"
#include "mcp/api.h"
#include "rpc/message.h"

#include <string>

namespace dormouse::mcp {

[[nodiscard]] rpc::Fault fault_of(Refusal const& why);
[[nodiscard]] rpc::Fault bad_params(std::string why);

// The answer of a tool; a refusal is text for the model. `task`: the answer belongs to this task;
// empty: to none.
[[nodiscard]] Json tool_result(ToolText const& result, std::string const& task = {});

}  // namespace dormouse::mcp
