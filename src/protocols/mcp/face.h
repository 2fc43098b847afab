#pragma once
// The MCP server's side of the protocol: answers requests, with the tools of one session, of
// foreign servers, or else with those that ask people. One for each connection or request. Pure.

#include "mcp/api.h"
#include "mcp/elicitation.h"
#include "mcp/gateway_tools.h"
#include "mcp/session_tools.h"
#include "mcp/tasks.h"
#include "mcp/versions.h"
#include "rpc/message.h"

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::mcp {

struct FaceSettings {
    std::string session = {};  // empty: none
    std::string project = {};  // of calls without a session; empty: the token's only one
    std::vector<std::string> servers = {};  // foreign servers whose tools are offered instead
    std::string version = {};               // the release of this program
    Elicits elicits = {};  // the client, until the face gets its `initialize`; since 2026-07-28
                           // each request says what its client can do
};

class Face : public std::enable_shared_from_this<Face> {
public:
    using Answer = std::expected<Json, rpc::Fault>;
    using Done = std::move_only_function<void(Answer)>;

    Face(FaceSettings settings, ApiPtr api);

    // Answers a request, once, perhaps before this returns. REQUIRES: message.kind is request.
    void answer(rpc::Message const& message, Era era, TicketPtr ticket, Done done);
    // Returns whether the answer to this request may take long.
    [[nodiscard]] static bool may_wait(rpc::Message const& message);

private:
    void dispatch(rpc::Message const& message, Era era, TicketPtr ticket, Done done);
    void list_tools(Era era, Done done);
    void call_tool(rpc::Message const& message, Era era, TicketPtr ticket, Done done);
    void call_open(std::string const& tool, rpc::Message const& message, Era era,
                   TicketPtr const& ticket, Done done);
    void answer_task(rpc::Message const& message, Era era, TicketPtr const& ticket, Done done);
    [[nodiscard]] Elicits elicits_of(rpc::Message const& message, Era era) const;
    [[nodiscard]] bool has_tasks() const { return !tools_ && !gateway_; }
    [[nodiscard]] Answer initialize(json::View params);
    [[nodiscard]] Json discover() const;
    [[nodiscard]] Json server_info() const;
    [[nodiscard]] std::string_view instructions() const;

    FaceSettings settings_;
    ApiPtr api_;
    std::shared_ptr<SessionTools> tools_;    // null: no session
    std::shared_ptr<GatewayTools> gateway_;  // null: no foreign servers
    std::shared_ptr<Tasks> tasks_;
};

// The token of the client's request under which it wants progress; null: none.
[[nodiscard]] Json progress_token(rpc::Message const& message);
// A line that reports progress under this token.
[[nodiscard]] std::string progress_line(Json const& token, std::int64_t count,
                                        std::string_view message);

}  // namespace dormouse::mcp
