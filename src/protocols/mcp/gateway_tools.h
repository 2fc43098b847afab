#pragma once
// The tools of foreign MCP servers, offered to an MCP client: each call is a session with that one
// call, with its gates, deadlines, receipt and audit, and is answered when it has its outcome.
// Pure.

#include "json/json.h"
#include "mcp/api.h"

#include <expected>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::mcp {

// The agent whose sessions make the calls.
inline constexpr std::string_view gateway_agent = "mcp";

class GatewayTools : public std::enable_shared_from_this<GatewayTools> {
public:
    // The result of tools/call, or why there is none.
    using Answer = std::expected<Json, Refusal>;
    using Done = std::move_only_function<void(Answer)>;

    // `servers`: names of [[mcp]]. REQUIRES: not empty. `project`: of the sessions; empty: default.
    GatewayTools(std::vector<std::string> servers, std::string project, ApiPtr api)
        : servers_(std::move(servers)), project_(std::move(project)), api_(std::move(api)) {}

    // Passes the elements of the list of tools.
    void list(ApiDone done);
    // A client that withdraws its request ends the session, which cancels the call.
    void call(std::string const& name, Json arguments, TicketPtr ticket, Done done);

private:
    void begin(std::string const& tool, Json const& arguments, TicketPtr ticket, Done done);
    void follow(std::string const& session, TicketPtr ticket, Done done);
    void look(std::string const& session, json::View state, TicketPtr ticket, Done done);
    void read(std::string const& session, Done done);
    void end(std::string const& session, std::move_only_function<void()> then);
    // The name under which a tool of the servers is offered; empty: it is not.
    [[nodiscard]] std::string offered_name(std::string const& tool) const;

    std::vector<std::string> servers_;
    std::string project_;
    ApiPtr api_;
    std::map<std::string, std::string> offered_;  // the server's name of each offered tool
};

// Makes the result of tools/call from the messages of the session.
[[nodiscard]] Json gateway_result(json::View messages);

}  // namespace dormouse::mcp
