#pragma once
// The calls of a server's tools that are under way. On the loop.

#include "agent/tool.h"
#include "base/scope.h"
#include "mcp_client/progress.h"
#include "mcp_client/requests.h"
#include "mcp_client/settings.h"
#include "mcp_client/tasks.h"
#include "port/world.h"

#include <cstdint>
#include <map>
#include <string>

namespace dormouse::mcp_client {

class Calls {
public:
    // All outlive this.
    Calls(ServerSettings const& settings, port::Loop& loop, Requests& requests, Tasks& tasks,
          Progress& progress)
        : settings_(settings),
          loop_(loop),
          requests_(requests),
          tasks_(tasks),
          progress_(progress) {}

    // `call.tool` is the server's name. `done` is called once, perhaps before this returns, and
    // never after the stop. Waits for the connection up to the start limit.
    agent::StopTool start(agent::ToolCall call, port::Fn<void(agent::ToolResult)> done);
    // The connection is ready: sends what waits.
    void ready();
    // A notification of progress; also of tasks that were calls of this connection.
    void progressed(json::View params);

private:
    using Number = std::uint64_t;
    struct Call {
        agent::ToolCall what;
        port::Fn<void(agent::ToolResult)> done;
        std::string id = {};  // of the request; empty: it waits for the connection
    };

    void send(Number number);
    void answered(Number number, rpc::Peer::Answer const& answer);
    [[nodiscard]] agent::ToolResult result_of(Number number, json::View answer);
    [[nodiscard]] agent::ToolResult result_of(rpc::Fault const& fault) const;
    void finish(Number number, agent::ToolResult result);
    void not_connected(Number number);
    void time_over(Number number);
    void stop(Number number);

    ServerSettings const& settings_;
    port::Loop& loop_;
    Requests& requests_;
    Tasks& tasks_;
    Progress& progress_;
    std::map<Number, Call> calls_;
    Number last_ = 0;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
