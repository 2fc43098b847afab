#pragma once
// The foreign MCP servers of a process: keeps their tools in the registry. On the loop.

#include "agent/tool.h"
#include "base/scope.h"
#include "mcp_client/connection.h"
#include "port/foreign_sign_in.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

class Servers final : public port::ForeignSignIns {
public:
    // `services` outlives this. `warn` gets one line for operators, `progress` what servers report
    // of calls.
    Servers(std::vector<ServerSettings> servers, ConnectionServices const& services,
            std::function<void(std::string const&)> warn, Progress::Report progress);
    ~Servers() override;
    Servers(Servers const&) = delete;
    Servers& operator=(Servers const&) = delete;

    // The registry outlives the connections that start() begins; its agents may be added later.
    void add_to(agent::Registry& registry);
    // Connects. Calls `settled` once, when each server has listed its tools or failed; at once if
    // there are none.
    void start(port::Fn<void()> settled);
    // Replaces the configured servers: connects to new and changed ones, and adds all to
    // `registry`, which then replaces the one before. Work under way at a removed or changed server
    // ends there; then its process ends. REQUIRES: add_to().
    void exchange(std::vector<ServerSettings> servers, agent::Registry& registry);
    // A pause of a call was settled: a task that the call had at its server and that has not ended
    // is cancelled, and so is the call if nobody answers its question. Other tools' calls are
    // ignored.
    void closed(session::Receipt const& receipt);
    // A session was deleted: the same for all of its calls.
    void deleted(SessionId const& session);
    // The process ends: polls end without a result.
    void leave();

    [[nodiscard]] std::vector<port::ForeignServer> servers() const override;
    [[nodiscard]] bool knows(std::string const& server) const override;
    [[nodiscard]] std::vector<std::string> needed() const override;
    void begin(std::string const& server, port::ForeignSignIn request,
               port::Fn<void(std::expected<std::string, std::string>)> done) override;
    void finish(std::string const& server, port::ForeignCode code,
                port::Fn<void(std::expected<void, std::string>)> done) override;
    // Another process has changed the stored records of sign-ins.
    void sign_ins_changed();

private:
    agent::StopTool ask_model(std::string const& agent, agent::Question question,
                              port::Fn<void(agent::ModelOutcome)> done);
    [[nodiscard]] SignIn* sign_in_of(std::string const& server) const;
    void listed(ServerSettings const& server, std::vector<ForeignTool> const& tools);
    static void set_tools(Connection& connection, std::vector<ForeignTool> const& tools,
                          agent::Registry& registry);
    void settled(ServerSettings const& server);
    void one_settled();
    void add(ServerSettings const& server);
    void offer(Connection& connection, agent::Registry& registry);
    void retire(std::unique_ptr<Connection> connection);
    void end_retired();

    std::vector<ServerSettings> settings_;
    ConnectionServices services_;
    std::function<void(std::string const&)> warn_;
    Progress::Report progress_;
    agent::Registry* registry_ = nullptr;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<std::unique_ptr<Connection>> retired_;  // until their calls have ended
    bool started_ = false;
    std::size_t unsettled_ = 0;
    port::Fn<void()> settled_;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
