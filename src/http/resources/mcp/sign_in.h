#pragma once
// A person signs in to a foreign MCP server, whose tokens the server then uses. The browser goes to
// its authorization server and comes back with a code.

#include "http/resources/shared.h"
#include "oidc/flow.h"

#include <string>

namespace dormouse::http {

// The part that lives as long as the API. `key`: signs the cookies; a sign-in ends at any server
// with the same one.
struct McpSignIns {
    explicit McpSignIns(std::string key) : flows(std::move(key)) {}
    oidc::Flows flows;
};

// The page on which people sign in to this server.
[[nodiscard]] std::string mcp_sign_in_url(std::string const& base_url, std::string const& server);

}  // namespace dormouse::http
