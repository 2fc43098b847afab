#include "app/parts/foreign_servers.h"

#include "agent/calls.h"

#include "app/parts/external_agents.h"
#include "app/parts/tools.h"
#include "external/gate_rule.h"

#include <algorithm>
#include <utility>

namespace dormouse::app {
namespace {

constexpr std::string_view foreign_prefix = "mcp:";

std::string joined(std::vector<std::string> const& scopes) {
    std::string out;
    for (std::string const& scope : scopes) out += (out.empty() ? "" : " ") + scope;
    return out;
}

mcp_client::ServerSettings server_of(config::Mcp const& from) {
    mcp_client::ServerSettings out;
    out.name = from.name;
    out.argv = from.command;
    out.cwd = from.cwd;
    out.environment = environment_of(from.env_allow);
    out.url = from.url;
    for (config::Header const& header : from.headers)
        out.headers.push_back({header.name, header.value});
    mcp_client::OAuthClient client{.issuer = from.issuer,
                                   .id = from.client_id,
                                   .secret = from.client_secret ? from.client_secret->value : "",
                                   .scope = joined(from.scopes)};
    if (from.sign_in) {
        out.sign_in = std::move(client);
    } else if (!from.issuer.empty()) {
        out.oauth = std::move(client);
    }
    out.time_limit = from.time_limit;
    out.task_limit = from.task_limit;
    out.answer_limit = from.answer_limit;
    out.start_limit = from.start_limit;
    out.message_max = from.message_bytes;
    out.sampling = from.sampling == config::McpSampling::ask;
    switch (from.ask) {
        case config::McpAsk::destructive: out.asks = mcp_client::Asks::destructive; break;
        case config::McpAsk::all: out.asks = mcp_client::Asks::all; break;
        case config::McpAsk::none: out.asks = mcp_client::Asks::none; break;
    }
    return out;
}

}  // namespace

std::vector<mcp_client::ServerSettings> servers_of(config::Config const& config) {
    std::vector<mcp_client::ServerSettings> out;
    for (config::Mcp const& server : config.mcps) out.push_back(server_of(server));
    return out;
}

mcp_client::Progress::Report reports_to(runner::Runner& runner) {
    return [&runner](PendingId const& call, Json payload) {
        runner.command(call.session, session::Progress{call, std::move(payload), {}},
                       {{session::ActorType::runtime, "mcp"}}, [](auto const&) {});
    };
}

agent::Gate mcp_gate() { return external::make_gate({.name = mcp_client::gate_name, .tools = {}}); }

agent::Agent gateway_agent() {
    agent::Agent out;
    out.id = "mcp";
    out.description = "Makes the calls of MCP clients to MCP servers (dormouse mcp --serve).";
    out.model = std::make_shared<agent::CallModel>();
    out.terms.digest = "mcp-1";
    out.foreign = {std::string(foreign_prefix) + "*"};
    return out;
}

void set_tools(agent::Agent& out, config::Agent const& from) {
    for (std::string const& tool : from.tools)
        (tool.starts_with(foreign_prefix) ? out.foreign : out.tools).push_back(tool);
}

bool uses(config::Agent const& agent, config::Mcp const& server) {
    return std::ranges::any_of(agent.tools, [&](std::string const& tool) {
        if (!tool.starts_with(foreign_prefix)) return false;
        auto const name = std::string_view(tool).substr(foreign_prefix.size());
        return agent::fits_pattern(name.substr(0, name.find(':')), server.name);
    });
}

std::set<std::string, std::less<>> programs_of(config::Config const& config) {
    std::set<std::string, std::less<>> tools;
    for (config::Tool const& tool : config.tools)
        if (tool.kind == config::ToolKind::command) tools.insert(tool.name);
    std::set<std::string, std::less<>> out;
    for (config::Agent const& agent : config.agents) {
        bool const has = std::ranges::any_of(
            agent.tools, [&](std::string const& tool) { return tools.contains(tool); });
        bool const serves = std::ranges::any_of(config.mcps, [&](config::Mcp const& server) {
            return !server.command.empty() && uses(agent, server);
        });
        if (has || serves || !agent.external.command.empty()) out.insert(agent.id);
    }
    for (config::Agent const& agent : installed_agents(config)) out.insert(agent.id);
    bool const runs = std::ranges::any_of(
        config.mcps, [](config::Mcp const& server) { return !server.command.empty(); });
    if (runs) out.insert(gateway_agent().id);
    return out;
}

}  // namespace dormouse::app
