#include "app/start/start_checks.h"

#include "agent/demo.h"
#include "app/start/confine.h"
#include "http/transport/proxies.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::app {

namespace {

// Limit for reading the oldest sessions, which include the demo's: the start must not take longer
// with more sessions.
constexpr std::uint32_t rows_max = 1'000;

// Calls that come without a model have agents named "calls:…".
bool is_known(agent::Registry const& registry, std::string const& agent) {
    return registry.agent(agent) || agent.starts_with("calls:");
}

// "": none.
std::string forgotten_text(agent::Registry const& registry,
                           std::vector<port::SessionRow> const& rows) {
    std::map<std::string, std::uint64_t>
        sessions;  // by the name of an agent that the registry does not have
    for (port::SessionRow const& row : rows) {
        bool const over = row.status == "deleted" || row.status == "completed";
        if (!over && !is_known(registry, row.agent)) ++sessions[row.agent];
    }
    if (sessions.empty()) return {};
    agent::Registry demo;
    agent::add_demo_agents(demo);
    std::uint64_t count = 0;
    bool demos = false;
    std::string names;
    for (auto const& [name, number] : sessions) {
        count += number;
        demos = demos || demo.agent(name);
        names += (names.empty() ? "" : ", ") + name;
    }
    bool const one = count == 1;
    std::string text = std::to_string(count) + (one ? " session belongs" : " sessions belong") +
                       " to agents that the configuration does not have: " + names + ". " +
                       (one ? "It is" : "They are") + " kept, and nothing continues in " +
                       (one ? "it" : "them") + ". ";
    text += demos ? "Demo agents are left out once the configuration has agents of its own: demo = "
                    "true in [server] brings them back. Or"
                  : "Put the agents back into the configuration, or";
    return text + " end the sessions: dormouse sessions, dormouse end SESSION";
}

}  // namespace

Result<void> refuse_open(bool insecure, config::Server const& server,
                         ListenAddress const& address) {
    for (std::string const& proxy : server.trusted_proxies) {
        if (!http::Network::parse(proxy))
            return fail(Code::bad_value,
                        "trusted_proxies: " + proxy +
                            " is neither an address nor a network such as 10.0.0.0/8");
    }
    bool const guarded = !server.tls_cert.empty() || !server.trusted_proxies.empty();
    if (address.loopback || insecure || guarded) return {};
    return fail(Code::forbidden,
                server.listen +
                    " is reachable from other machines without TLS; set tls_cert and tls_key, or "
                    "name the proxy in front of it in trusted_proxies, or pass --insecure");
}

Result<void> refuse_exposed_data(config::Config const& config, std::string const& data) {
    for (config::Agent const& agent : config.agents) {
        if (std::string why = data_problem(agent.external.run_as, data); !why.empty())
            return fail(Code::bad_value, "[[agent]] " + agent.id + ": " + why);
    }
    return {};
}

void find_sessions_without_agent(port::StoreView<port::MaintenanceStore> sessions,
                                 agent::Registry const& registry,
                                 std::function<void(std::string const&)> warn) {
    auto question = [](port::MaintenanceStore& store) { return store.all_sessions(0, rows_max); };
    port::ask(sessions, std::move(question),
              [&registry, warn = std::move(warn)](Result<std::vector<port::SessionRow>> rows) {
                  std::string const text = rows ? forgotten_text(registry, *rows) : std::string();
                  if (!text.empty()) warn(text);
              });
}

}  // namespace dormouse::app
