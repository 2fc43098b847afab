#include "mcp_client/servers.h"

#include "agent/calls.h"
#include "base/check.h"
#include "mcp_client/requests/holder.h"

#include <algorithm>
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
    tool.holder = holder_in;
}

constexpr Duration retired_every{200};

bool may_become_task(Abilities const& abilities, ForeignTool const& tool) {
    return abilities.task_by_itself || (abilities.task_on_request && tool.as_task);
}

}  // namespace

Servers::Servers(std::vector<ServerSettings> servers, ConnectionServices const& services,
                 std::function<void(std::string const&)> warn, Progress::Report progress)
    : settings_(std::move(servers)),
      services_(services),
      warn_(std::move(warn)),
      progress_(std::move(progress)) {
    services_.ask_model = [this](std::string const& agent, agent::Question question, auto done) {
        return ask_model(agent, std::move(question), std::move(done));
    };
}

Servers::~Servers() = default;

void Servers::add_to(agent::Registry& registry) {
    registry_ = &registry;
    for (ServerSettings const& server : settings_) {
        add(server);
        offer(*connections_.back(), registry);
    }
}

void Servers::add(ServerSettings const& server) {
    ++unsettled_;
    ConnectionEvents events{.listed = [this, server](auto const& tools) { listed(server, tools); },
                            .warn = warn_,
                            .settled = [this, server] { settled(server); },
                            .progress = progress_};
    connections_.push_back(std::make_unique<Connection>(server, services_, std::move(events)));
}

// The tools that it has listed so far.
void Servers::offer(Connection& connection, agent::Registry& registry) {
    ServerSettings const& server = connection.settings();
    agent::Tool any;
    any.name = prefix_of(server.name) + "*";
    any.terms.crash = session::CrashPolicy::never;
    connect(any, connection);
    registry.add_foreign(prefix_of(server.name), std::move(any));
    set_tools(connection, connection.tools(), registry);
}

void Servers::start(port::Fn<void()> settled) {
    started_ = true;
    if (connections_.empty()) return settled();
    settled_ = std::move(settled);
    for (auto const& connection : connections_) connection->start();
}

void Servers::exchange(std::vector<ServerSettings> servers, agent::Registry& registry) {
    CHECK(registry_ != nullptr);
    auto former = std::exchange(connections_, {});
    std::vector<Connection*> fresh;
    for (ServerSettings const& server : servers) {
        auto const kept = std::ranges::find_if(
            former, [&](auto const& one) { return one && same(one->settings(), server); });
        if (kept != former.end()) {
            connections_.push_back(std::move(*kept));
        } else {
            add(server);
            fresh.push_back(connections_.back().get());
        }
        offer(*connections_.back(), registry);
    }
    settings_ = std::move(servers);
    for (auto& one : former)
        if (one) retire(std::move(one));
    if (!started_) return;
    for (Connection* const one : fresh) one->start();
}

// Polls end without a result: the next ones go to the server of now.
void Servers::retire(std::unique_ptr<Connection> connection) {
    connection->tasks().leave();
    if (!connection->settled()) one_settled();
    retired_.push_back(std::move(connection));
    if (retired_.size() == 1) end_retired();
}

void Servers::end_retired() {
    services_.loop.after(retired_every, scope_.guard([this] {
        std::erase_if(retired_, [](auto const& one) { return one->calls().idle(); });
        if (!retired_.empty()) end_retired();
    }));
}

// A server that is retired lists for nobody.
void Servers::listed(ServerSettings const& server, std::vector<ForeignTool> const& tools) {
    for (auto const& connection : connections_)
        if (same(connection->settings(), server)) set_tools(*connection, tools, *registry_);
}

void Servers::set_tools(Connection& connection, std::vector<ForeignTool> const& tools,
                        agent::Registry& registry) {
    ServerSettings const& server = connection.settings();
    std::vector<agent::Tool> out;
    for (ForeignTool const& tool : tools) {
        bool const tasks = may_become_task(connection.abilities(), tool);
        out.push_back(declare(server, tool, tasks));
        connect(out.back(), connection);
    }
    registry.set_foreign(prefix_of(server.name), std::move(out));
}

void Servers::closed(session::Receipt const& receipt) {
    for (auto const* const all : {&connections_, &retired_}) {
        for (auto const& connection : *all) {
            connection->calls().closed(receipt);
            connection->tasks().closed(receipt);
        }
    }
}

void Servers::deleted(SessionId const& session) {
    for (auto const* const all : {&connections_, &retired_}) {
        for (auto const& connection : *all) {
            connection->calls().deleted(session);
            connection->tasks().deleted(session);
        }
    }
}

agent::StopTool Servers::ask_model(std::string const& agent, agent::Question question,
                                   port::Fn<void(agent::ModelOutcome)> done) {
    agent::Agent const* found = registry_->agent(agent);
    for (agent::Agent const& each : registry_->agents())
        if (agent::calls_of(each.id) == agent) found = &each;
    bool const none = !found || !found->model || agent::call_model_of(*found) != nullptr;
    if (none) {
        done(agent::ModelTrouble{.error = {"no_model", "the agent '" + agent + "' has no model"}});
        return {};
    }
    question.agent = agent;
    auto stop = found->model->ask(std::move(question), [](port::Delta const&) {}, std::move(done));
    return [stop = std::move(stop), pin = registry_->pin()]() mutable {
        if (stop) stop();
    };
}

SignIn* Servers::sign_in_of(std::string const& server) const {
    for (auto const& connection : connections_)
        if (connection->settings().name == server) return connection->sign_in();
    return nullptr;
}

std::vector<port::ForeignServer> Servers::servers() const {
    std::vector<port::ForeignServer> out;
    for (auto const& connection : connections_) out.push_back(connection->shown());
    return out;
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
    sign_in_of(server)->finish(std::move(code), std::move(done));
}

void Servers::sign_ins_changed() {
    for (auto const* const all : {&connections_, &retired_})
        for (auto const& connection : *all)
            if (SignIn* const one = connection->sign_in()) one->on_changed();
}

void Servers::leave() {
    for (auto const* const all : {&connections_, &retired_})
        for (auto const& connection : *all) connection->tasks().leave();
}

// One that is retired has been counted.
void Servers::settled(ServerSettings const& server) {
    for (auto const& connection : connections_)
        if (same(connection->settings(), server)) return one_settled();
}

void Servers::one_settled() {
    if (--unsettled_ == 0 && settled_) std::exchange(settled_, {})();
}

}  // namespace dormouse::mcp_client
