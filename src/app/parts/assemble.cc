#include "app/parts/assemble.h"

#include "agent/builtin.h"
#include "agent/calls.h"
#include "agent/demo.h"
#include "app/parts/budgets.h"
#include "app/parts/external_agents.h"
#include "app/parts/foreign_servers.h"
#include "app/parts/models.h"
#include "app/parts/tools.h"
#include "json/json.h"

#include <algorithm>
#include <map>

namespace dormouse::app {

namespace {

// Changes with what the model gets; each turn records it.
std::string digest_of(config::Agent const& agent, config::Model const& model) {
    json::Writer out;
    out.begin_array().value(text(model.kind)).value(model.model).value(agent.instructions);
    for (std::string const& tool : agent.tools) out.value(tool);
    return digest_text(sha256(out.end_array().take()));
}

// Adds the tools "agent:NAME"; each call has a session of that agent.
void add_agent_tools(agent::Registry& registry, config::Config const& config) {
    constexpr std::string_view prefix = "agent:";
    for (config::Agent const& from : config.agents) {
        for (std::string const& name : from.tools) {
            if (!name.starts_with(prefix) || registry.tool(name)) continue;
            std::string const id = name.substr(prefix.size());
            auto const named = std::ranges::find(config.agents, id, &config::Agent::id);
            std::string what = named == config.agents.end() ? "" : named->description;
            registry.add(agent::agent_tool({name, id, std::move(what)}));
        }
    }
}

// The model that some agent had under this configuration; null: none, or it is another one now.
std::shared_ptr<agent::Model> former_model(config::Model const& model, Former const& former) {
    auto const was = std::ranges::find(former.config.models, model.id, &config::Model::id);
    if (was == former.config.models.end()) return nullptr;
    config::Model same = *was;
    same.line = model.line;
    if (same != model) return nullptr;
    for (config::Agent const& agent : former.config.agents) {
        if (agent.model != model.id) continue;
        if (auto const* const found = former.registry.agent(agent.id)) return found->model;
    }
    return nullptr;
}

void add_agents(agent::Registry& registry, config::Config const& config,
                ToolServices const& services, Former const* former) {
    std::map<std::string, std::shared_ptr<agent::Model>> models;
    for (config::Model const& model : config.models) {
        auto kept = former ? former_model(model, *former) : nullptr;
        models[model.id] = kept ? std::move(kept) : make_model(model, services);
    }
    for (config::Agent const& from : config.agents) {
        if (!from.external.command.empty()) continue;
        auto const model = std::ranges::find(config.models, from.model, &config::Model::id);
        agent::Agent out;
        out.id = from.id;
        out.description = from.description;
        out.model = models.at(from.model);
        set_tools(out, from);
        out.terms.join = from.join;
        out.terms.tool_concurrency = from.tool_concurrency;
        out.terms.step_limit = from.step_limit;
        out.terms.digest = digest_of(from, *model);
        out.instructions = from.instructions;
        out.model_id = from.model;
        registry.add(std::move(out));
    }
}

// Its processes work as they would if it were started again. One that could not be started is
// searched again.
std::shared_ptr<agent::ExternalAgent> former_agent(config::Agent const& from,
                                                   ExternalContext const& around,
                                                   Former const& former) {
    agent::Agent const* const found = former.registry.agent(from.id);
    if (!found || !found->external || !found->external->unavailable().empty()) return nullptr;
    auto const named = std::ranges::find(former.config.agents, from.id, &config::Agent::id);
    bool const installed = named == former.config.agents.end();
    config::ExternalAgent alone;
    alone.command = {from.id};
    bool const same = from.external == (installed ? alone : named->external);
    return same && around == external_context(former.config) ? found->external : nullptr;
}

// External agents of the configuration, and installed ones.
void add_external_agents(agent::Registry& registry, config::Config const& config,
                         ToolServices const& services, Former const* former) {
    ExternalContext const around = external_context(config);
    auto const add = [&](config::Agent const& from) {
        auto kept = former ? former_agent(from, around, *former) : nullptr;
        registry.add(kept ? external_agent(from, std::move(kept))
                          : make_external_agent(from, around, services));
    };
    for (config::Agent const& from : config.agents)
        if (!from.external.command.empty()) add(from);
    for (config::Agent const& from : installed_agents(config))
        if (!registry.agent(from.id)) add(from);
}

}  // namespace

agent::Registry assemble(config::Config const& config, ToolServices const& services,
                         Former const* former) {
    agent::Registry registry;
    if (!config.mcps.empty()) registry.add(mcp_gate());
    config.has_demo() ? agent::add_demo_agents(registry, services.mail)
                      : agent::add_builtin_tools(registry, services.mail);
    for (config::Tool const& tool : config.tools) registry.add(make_tool(tool, services));
    for (config::Gate const& gate : config.gates) registry.add(make_gate(gate));
    add_agent_tools(registry, config);
    add_agents(registry, config, services, former);
    add_external_agents(registry, config, services, former);
    if (!config.mcps.empty()) registry.add(gateway_agent());
    agent::add_call_agents(registry);
    set_budgets(registry, config);
    return registry;
}

}  // namespace dormouse::app
