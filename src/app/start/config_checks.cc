#include "app/start/config_checks.h"

#include "agent/demo.h"
#include "app/parts/archive_sweeps.h"
#include "app/parts/channel.h"
#include "app/parts/copies.h"
#include "app/parts/external_agents.h"
#include "app/parts/indexes.h"
#include "app/parts/models.h"
#include "app/parts/stores.h"
#include "app/parts/tools.h"
#include "app/start/confine.h"
#include "base/text/text.h"
#include "webhook/pump.h"

#include <algorithm>

namespace dormouse::app {

namespace {

// Addresses to which nothing may be sent.
void check_targets(Warnings& out, config::Config const& config) {
    auto allowed = config.server.webhook_hosts;
    for (std::string& host : allowed) host = lower_case(host);
    for (config::Webhook const& hook : config.webhooks) {
        auto const why = webhook::url_policy(hook.url, allowed).refusal;
        if (!why.empty())
            out.push_back({hook.line, "[[webhook]] " + hook.url + " gets nothing: " + why});
    }
    for (config::Notify const& notify : config.notifies) {
        std::string const url = notify.url ? notify.url->value : notify.api_url;
        if (url.empty()) continue;
        auto const why = webhook::url_policy(url, allowed).refusal;
        if (!why.empty()) out.push_back({notify.line, "[[notify]] sends nothing: " + why});
    }
}

// Programs that do not exist, and sandboxes that cannot be built.
void check_external_agents(Warnings& out, config::Config const& config, std::string const& data) {
    std::string const folder = external_context(config).folder;
    for (config::Agent const& agent : config.agents) {
        config::ExternalAgent const& external = agent.external;
        if (external.command.empty()) continue;
        std::string why = folder_problem(external, folder, data);
        if (auto const confined = confine({.sandbox = external.sandbox, .run_as = external.run_as});
            !confined)
            why = confined.error().detail;
        if (std::string missing = external_problem(external); !missing.empty())
            why = std::move(missing);
        if (std::string const exposed = data_problem(external.run_as, data); !exposed.empty())
            out.push_back({agent.line, "[[agent]] " + agent.id +
                                           ": the server does not start with it: " + exposed});
        if (!why.empty())
            out.push_back({agent.line, "[[agent]] " + agent.id + " cannot be used: " + why});
    }
}

// A gate is asked only about permissions that the external agent requests.
void check_modes(Warnings& out, config::Config const& config) {
    config::Gate const* const gate = gate_of_external_agents(config);
    if (!gate) return;
    for (config::Agent const& agent : config.agents) {
        std::string const& mode = agent.external.mode;
        if (agent.external.command.empty() || !asks_nobody(mode)) continue;
        out.push_back(
            {agent.line,
             "[[agent]] " + agent.id + ": in the session_mode \"" + mode +
                 "\" its program does not ask for every permission, so "
                 "[[gate]] " +
                 gate->id +
                 " does not see actions for which the agent sends no permission request"});
    }
}

// Adds an agent and its tools.
void add(Offer& offer, std::string const& id, std::vector<std::string> const& tools) {
    if (std::ranges::find(offer.agents, id, &OfferedAgent::id) == offer.agents.end())
        offer.agents.push_back({id, tools});
}

}  // namespace

Mistakes mistakes_in(config::Config const& config) {
    Mistakes out;
    auto const note = [&](std::uint32_t line, std::string const& what,
                          Result<void> const& checked) {
        if (!checked)
            out.push_back(
                config::line_of(config.file, {line, what + ": " + checked.error().detail}));
    };
    for (config::Model const& model : config.models)
        note(model.line, "[[model]] " + model.id, check_model(model));
    for (config::Tool const& tool : config.tools)
        note(tool.line, "[[tool]] " + tool.name, check_tool(tool));
    note(0, "[store]", check_store(config.store));
    note(0, "[store]", check_channel(config.store));
    note(0, "[store]", check_secret_index(config.store));
    note(0, "[backup]", check_copies(config));
    note(0, "[archive]", check_archive(config));
    return out;
}

Warnings warnings_of(config::Config const& config, std::string const& data) {
    auto out = config::warnings(config);
    check_targets(out, config);
    check_external_agents(out, config, data);
    check_modes(out, config);
    std::ranges::stable_sort(out, {}, &config::Problem::line);
    return out;
}

Offer offer_of(config::Config const& config) {
    agent::Registry builtin;
    config.has_demo() ? agent::add_demo_agents(builtin) : agent::add_builtin_tools(builtin);
    Offer out;
    for (agent::Agent const& agent : builtin.agents()) {
        if (!agent.hidden) add(out, agent.id, agent.tools);
    }
    for (bool const external : {false, true}) {
        for (config::Agent const& agent : config.agents)
            if (agent.external.command.empty() != external) add(out, agent.id, agent.tools);
    }
    for (config::Agent const& agent : installed_agents(config)) add(out, agent.id, agent.tools);
    auto const is_used = [&](std::string const& tool) {
        return std::ranges::any_of(out.agents, [&](OfferedAgent const& agent) {
            return std::ranges::find(agent.tools, tool) != agent.tools.end();
        });
    };
    for (agent::Tool const& tool : builtin.tools())
        if (is_used(tool.name)) out.tools.push_back(tool.name);
    for (config::Tool const& tool : config.tools) out.tools.push_back(tool.name);
    for (OfferedAgent const& agent : out.agents) {
        for (std::string const& tool : agent.tools) {
            bool const listed = std::ranges::find(out.tools, tool) != out.tools.end();
            if (tool.starts_with("agent:") && !listed) out.tools.push_back(tool);
        }
    }
    return out;
}

}  // namespace dormouse::app
