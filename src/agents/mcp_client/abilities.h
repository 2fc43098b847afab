#pragma once
// The capabilities that a server reports, and the members of requests to it besides their
// parameters. Pure.

#include "json/json.h"
#include "mcp/versions.h"
#include "session/vocabulary.h"

#include <string>
#include <string_view>

namespace dormouse::mcp_client {

struct Abilities {
    mcp::Era era = mcp::Era::with_initialize;
    std::string version = {};
    // It makes a task of a call if the call requests that (2025-11-25).
    bool task_on_request = false;
    // It may make a task of any call (the extension io.modelcontextprotocol/tasks).
    bool task_by_itself = false;
    bool resources = false;
    bool prompts = false;
    bool tells_changes = false;  // of its list of tools
};

// Reads the result of `initialize` or of `server/discover`.
[[nodiscard]] Abilities read_abilities(mcp::Era era, json::View result);

// The request of 2026-07-28 whose answer is a stream of notifications, and its parameters.
inline constexpr std::string_view listen_method = "subscriptions/listen";
[[nodiscard]] Json listen_params();

// Parameters of `initialize`.
[[nodiscard]] Json initialize_params(bool sampling);
// Adds what the version needs in `_meta`. `progress`: the token of the notifications of progress;
// empty: none are wanted. `trace` may be empty. `sampling`: it is offered. REQUIRES: `params`
// is an object without `_meta`.
[[nodiscard]] Json with_meta(Json const& params, mcp::Era era, std::string_view progress,
                             session::TraceHeaders const& trace, bool sampling);

}  // namespace dormouse::mcp_client
