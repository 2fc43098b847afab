#include "mcp_client/servers.h"

#include <utility>

namespace dormouse::mcp_client {
namespace {

// The function of all tools of a server: the call names the tool.
auto starter(Connection& connection) {
    return [&connection, prefix = prefix_of(connection.settings().name)](
               agent::ToolCall const& call,
               port::Fn<void(agent::ToolResult)> done) -> agent::StopTool {
        return connection.call(call.tool.substr(prefix.size()), call.input, std::move(done));
    };
}

}  // namespace

Servers::Servers(std::vector<ServerSettings> servers, World const& world,
                 std::function<void(std::string const&)> warn)
    : settings_(std::move(servers)), world_(world), warn_(std::move(warn)) {}

Servers::~Servers() = default;

void Servers::add_to(agent::Registry& registry) {
    registry_ = &registry;
    unsettled_ = settings_.size();
    for (ServerSettings const& server : settings_) {
        ConnectionEvents events{
            .listed = [this, server](auto const& tools) { listed(server, tools); },
            .warn = warn_,
            .settled = [this] { one_settled(); }};
        connections_.push_back(std::make_unique<Connection>(server, world_, std::move(events)));
        agent::Tool any;
        any.name = prefix_of(server.name) + "*";
        any.terms.crash = session::CrashPolicy::never;
        any.start = starter(*connections_.back());
        registry.add_foreign(prefix_of(server.name), std::move(any));
    }
}

void Servers::start(port::Fn<void()> settled) {
    if (connections_.empty()) return settled();
    settled_ = std::move(settled);
    for (auto const& connection : connections_) connection->start();
}

void Servers::listed(ServerSettings const& server, std::vector<ForeignTool> const& tools) {
    std::vector<agent::Tool> out;
    for (auto const& connection : connections_) {
        if (connection->settings().name != server.name) continue;
        for (ForeignTool const& tool : tools) {
            out.push_back(declare(server, tool));
            out.back().start = starter(*connection);
        }
    }
    registry_->set_foreign(prefix_of(server.name), std::move(out));
}

void Servers::one_settled() {
    if (--unsettled_ == 0 && settled_) std::exchange(settled_, {})();
}

}  // namespace dormouse::mcp_client
