#include "app/assemble.h"

#include "agent/builtin.h"
#include "agent/calls.h"
#include "agent/demo.h"
#include "app/budgets.h"
#include "app/external_agents.h"
#include "app/foreign_servers.h"
#include "app/models.h"
#include "app/tools.h"
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
            if (what.empty()) what = "Asks the agent '" + id + "', and gives what it answers.";
            registry.add(agent::agent_tool({name, id, std::move(what)}));
        }
    }
}

void add_agents(agent::Registry& registry, config::Config const& config, Means const& means) {
    std::map<std::string, std::shared_ptr<agent::Model>> models;
    for (config::Model const& model : config.models) models[model.id] = make_model(model, means);
    for (config::Agent const& from : config.agents) {
        if (!from.program.command.empty()) continue;
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

// External agents of the configuration, and installed ones.
void add_programs(agent::Registry& registry, config::Config const& config, Means const& means) {
    ExternalContext const around = external_context(config);
    for (config::Agent const& from : config.agents) {
        if (!from.program.command.empty()) registry.add(make_program_agent(from, around, means));
    }
    for (config::Agent const& from : installed_agents(config)) {
        if (!registry.agent(from.id)) registry.add(make_program_agent(from, around, means));
    }
}

}  // namespace

agent::Registry assemble(config::Config const& config, Means const& means) {
    agent::Registry registry;
    if (!config.mcps.empty()) registry.add(mcp_gate());
    config.has_demo() ? agent::add_demo_agents(registry, means.mail)
                      : agent::add_builtin_tools(registry, means.mail);
    for (config::Tool const& tool : config.tools) registry.add(make_tool(tool, means));
    for (config::Gate const& gate : config.gates) registry.add(make_gate(gate));
    add_agent_tools(registry, config);
    add_agents(registry, config, means);
    add_programs(registry, config, means);
    if (!config.mcps.empty()) registry.add(gateway_agent());
    agent::add_call_agents(registry);
    set_budgets(registry, config);
    return registry;
}

}  // namespace dormouse::app
