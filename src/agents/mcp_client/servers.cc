#include "mcp_client/servers.h"

#include "agent/calls.h"

#include <utility>

namespace dormouse::mcp_client {
namespace {

// Sets the functions of all tools of a server: the call names the tool.
void connect(agent::Tool& tool, Connection& connection) {
    tool.start = [&connection, prefix = prefix_of(connection.settings().name)](
                     agent::ToolCall call,
                     port::Fn<void(agent::ToolResult)> done) -> agent::StopTool {
        call.tool.erase(0, prefix.size());
        return connection.calls().start(std::move(call), std::move(done));
    };
    tool.poll = [&connection](agent::PollCall const& call,
                              port::Fn<void(agent::PollResult)> done) -> agent::StopTool {
        return connection.tasks().poll(call, std::move(done));
    };
}

bool may_become_task(Abilities const& abilities, ForeignTool const& tool) {
    return abilities.task_by_itself || (abilities.task_on_request && tool.as_task);
}

}  // namespace

Servers::Servers(std::vector<ServerSettings> servers, World const& world,
                 std::function<void(std::string const&)> warn, Progress::Report progress)
    : settings_(std::move(servers)),
      world_(world),
      warn_(std::move(warn)),
      progress_(std::move(progress)) {
    world_.ask_model = [this](std::string const& agent, agent::Question question, auto done) {
        return ask_model(agent, std::move(question), std::move(done));
    };
}

Servers::~Servers() = default;

void Servers::add_to(agent::Registry& registry) {
    registry_ = &registry;
    unsettled_ = settings_.size();
    for (ServerSettings const& server : settings_) {
        ConnectionEvents events{
            .listed = [this, server](auto const& tools) { listed(server, tools); },
            .warn = warn_,
            .settled = [this] { one_settled(); },
            .progress = progress_};
        connections_.push_back(std::make_unique<Connection>(server, world_, std::move(events)));
        agent::Tool any;
        any.name = prefix_of(server.name) + "*";
        any.terms.crash = session::CrashPolicy::never;
        connect(any, *connections_.back());
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
            bool const tasks = may_become_task(connection->abilities(), tool);
            out.push_back(declare(server, tool, tasks));
            connect(out.back(), *connection);
        }
    }
    registry_->set_foreign(prefix_of(server.name), std::move(out));
}

void Servers::closed(session::Receipt const& receipt) {
    for (auto const& connection : connections_) {
        connection->calls().closed(receipt);
        connection->tasks().closed(receipt.pending);
    }
}

agent::StopTool Servers::ask_model(std::string const& agent, agent::Question question,
                                   port::Fn<void(agent::ModelOutcome)> done) {
    agent::Agent const* found = registry_->agent(agent);
    for (agent::Agent const& each : registry_->agents())
        if (agent::calls_of(each.id) == agent) found = &each;
    bool const none = !found || !found->model ||
                      dynamic_cast<agent::CallModel const*>(found->model.get()) != nullptr;
    if (none) {
        done(agent::ModelTrouble{.error = {"no_model", "the agent '" + agent + "' has no model"}});
        return {};
    }
    question.agent = agent;
    return found->model->ask(std::move(question), [](port::Delta const&) {}, std::move(done));
}

SignIn* Servers::sign_in_of(std::string const& server) const {
    for (auto const& connection : connections_)
        if (connection->settings().name == server) return connection->sign_in();
    return nullptr;
}

bool Servers::knows(std::string const& server) const { return sign_in_of(server) != nullptr; }

std::vector<std::string> Servers::needed() const {
    std::vector<std::string> out;
    for (auto const& connection : connections_)
        if (SignIn* const one = connection->sign_in(); one && one->needed())
            out.push_back(connection->settings().name);
    return out;
}

void Servers::begin(std::string const& server, port::ForeignSignIn request,
                    port::Fn<void(std::expected<std::string, std::string>)> done) {
    sign_in_of(server)->begin(std::move(request), std::move(done));
}

void Servers::finish(std::string const& server, port::ForeignCode code,
                     port::Fn<void(std::expected<void, std::string>)> done) {
    sign_in_of(server)->finish(code, std::move(done));
}

void Servers::leave() {
    for (auto const& connection : connections_) connection->tasks().leave();
}

void Servers::one_settled() {
    if (--unsettled_ == 0 && settled_) std::exchange(settled_, {})();
}

}  // namespace dormouse::mcp_client
