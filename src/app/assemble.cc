#include "app/assemble.h"

#include "agent/demo.h"
#include "json/json.h"

#include <algorithm>
#include <map>

namespace dormouse::app {

namespace {

using Models = std::map<std::string, std::shared_ptr<agent::Model>>;

std::string not_yet(config::Config const& config, std::string const& what) {
    return config.file + ": " + what + " comes with a later release; leave it out until then";
}

Models make_models(config::Config const& config, Mistakes& mistakes) {
    Models out;
    for (config::Model const& model : config.models) {
        if (model.kind == config::ModelKind::scripted) {
            out[model.id] = std::make_shared<agent::DemoModel>();
        } else {
            mistakes.push_back(not_yet(config, "[[model]] " + model.id + ": kind \"" +
                                                   std::string(text(model.kind)) + "\""));
        }
    }
    return out;
}

void add_tools(agent::Registry& registry, config::Config const& config, Outside const& outside,
               Mistakes& mistakes) {
    for (config::Tool const& tool : config.tools) {
        if (registry.tool(tool.name)) {
            mistakes.push_back(config.file + ": [[tool]] " + tool.name +
                               ": there is a tool of this name built in; choose another");
        } else if (auto made = make_tool(tool, outside)) {
            registry.add(*std::move(made));
        } else {
            mistakes.push_back(config.file + ": [[tool]] " + tool.name + ": " +
                               made.error().detail);
        }
    }
    for (config::Gate const& gate : config.gates) {
        if (registry.gate(gate.id)) {
            mistakes.push_back(config.file + ": [[gate]] " + gate.id +
                               ": there is a gate of this name; choose another");
        } else {
            registry.add(make_gate(gate));
        }
    }
}

// Changes with what the model is told, so that a turn says under which configuration it ran.
std::string digest_of(config::Agent const& agent, config::Model const& model) {
    json::Writer out;
    out.begin_array().value(text(model.kind)).value(model.model).value(agent.instructions);
    for (std::string const& tool : agent.tools) out.value(tool);
    return digest_text(sha256(out.end_array().take()));
}

void add_agents(agent::Registry& registry, config::Config const& config, Models const& models) {
    for (config::Agent const& from : config.agents) {
        auto const model = std::ranges::find(config.models, from.model, &config::Model::id);
        agent::Agent out;
        out.id = from.id;
        out.description = from.description;
        out.model = models.at(from.model);
        out.tools = from.tools;
        out.terms.join = from.join;
        out.terms.tool_concurrency = from.tool_concurrency;
        out.terms.step_limit = from.step_limit;
        out.terms.digest = digest_of(from, *model);
        registry.add(std::move(out));
    }
}

}  // namespace

std::expected<agent::Registry, Mistakes> assemble(config::Config const& config,
                                                  Outside const& outside) {
    agent::Registry registry;
    Mistakes mistakes;
    config.has_demo() ? agent::add_demo_agents(registry) : agent::add_builtin_tools(registry);
    Models const models = make_models(config, mistakes);
    add_tools(registry, config, outside, mistakes);
    if (!mistakes.empty()) return std::unexpected(std::move(mistakes));
    add_agents(registry, config, models);
    return registry;
}

}  // namespace dormouse::app
