#pragma once
// The foreign MCP servers of a process: keeps their tools in the registry. On the loop.

#include "agent/tool.h"
#include "mcp_client/connection.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

class Servers {
public:
    // `world` outlives this. `warn` gets one line for operators.
    Servers(std::vector<ServerSettings> servers, World const& world,
            std::function<void(std::string const&)> warn);
    ~Servers();
    Servers(Servers const&) = delete;
    Servers& operator=(Servers const&) = delete;

    // The registry outlives the connections that start() begins; its agents may be added later.
    void add_to(agent::Registry& registry);
    // Connects. Calls `settled` once, when each server has listed its tools or failed; at once if
    // there are none.
    void start(port::Fn<void()> settled);

private:
    void listed(ServerSettings const& server, std::vector<ForeignTool> const& tools);
    void one_settled();

    std::vector<ServerSettings> settings_;
    World world_;
    std::function<void(std::string const&)> warn_;
    agent::Registry* registry_ = nullptr;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::size_t unsettled_ = 0;
    port::Fn<void()> settled_;
};

}  // namespace dormouse::mcp_client
