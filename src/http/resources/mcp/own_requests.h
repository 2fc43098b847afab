#pragma once
// Gives the requests of MCP tools to the routes of this process, with the rights of the caller.

#include "http/resources/api.h"
#include "mcp/api.h"

#include <functional>

namespace dormouse::http {

// The exchange of a caller that may lose its connection and return: `gone` says whether it does
// not.
[[nodiscard]] ExchangePtr staying(ExchangePtr const& x, std::function<bool()> gone);

// The API as the caller of `x` may use it. Holds `x`.
[[nodiscard]] mcp::ApiPtr api_of(Api& api, ExchangePtr const& x);

// The whole request that a tool makes.
[[nodiscard]] HttpRequest request_of(mcp::ApiRequest const& request, HttpRequest const& from);
// The answer to a tool: the body, or why there is none.
[[nodiscard]] mcp::ApiAnswer answer_of(HttpReply const& reply);

}  // namespace dormouse::http
