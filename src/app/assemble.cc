#include "app/assemble.h"

#include "agent/builtin.h"
#include "agent/calls.h"
#include "agent/demo.h"
#include "app/agent_programs.h"
#include "app/models.h"
#include "app/tools.h"
#include "json/json.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace dormouse::app {

namespace {

using Models = std::map<std::string, std::shared_ptr<agent::Model>>;

// "FILE:LINE: "
std::string at(config::Config const& config, std::uint32_t line) {
    return config.file + ":" + std::to_string(line) + ": ";
}

Models make_models(config::Config const& config, Means const& means, Mistakes& mistakes) {
    Models out;
    for (config::Model const& model : config.models) {
        if (auto made = make_model(model, means)) {
            out[model.id] = std::move(*made);
        } else {
            mistakes.push_back(at(config, model.line) + "[[model]] " + model.id + ": " +
                               made.error().detail);
        }
    }
    return out;
}

void add_tools(agent::Registry& registry, config::Config const& config, Means const& means,
               Mistakes& mistakes) {
    for (config::Tool const& tool : config.tools) {
        std::string const place = at(config, tool.line) + "[[tool]] " + tool.name + ": ";
        if (registry.tool(tool.name)) {
            mistakes.push_back(place + "there is a tool of this name built in; choose another");
        } else if (auto made = make_tool(tool, means)) {
            registry.add(*std::move(made));
        } else {
            mistakes.push_back(place + made.error().detail);
        }
    }
}

void add_gates(agent::Registry& registry, config::Config const& config, Mistakes& mistakes) {
    for (config::Gate const& gate : config.gates) {
        std::string const place = at(config, gate.line) + "[[gate]] " + gate.id + ": ";
        if (registry.gate(gate.id)) {
            mistakes.push_back(place + "there is a gate of this name; choose another");
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

// "agent:NAME" among an agent's tools: each call has a session of that agent.
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

void add_agents(agent::Registry& registry, config::Config const& config, Models const& models) {
    for (config::Agent const& from : config.agents) {
        if (!from.program.command.empty()) continue;
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
        out.instructions = from.instructions;
        out.model_id = from.model;
        registry.add(std::move(out));
    }
}

// Those of the configuration, and what is installed.
void add_programs(agent::Registry& registry, config::Config const& config, Means const& means) {
    ProgramContext const around = program_context(config);
    for (config::Agent const& from : config.agents) {
        if (!from.program.command.empty()) registry.add(make_program_agent(from, around, means));
    }
    for (config::Agent const& from : installed_agents(config)) {
        if (!registry.agent(from.id)) registry.add(make_program_agent(from, around, means));
    }
}

class NoHttp final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest, port::HttpCallbacks) override { return 0; }
    void cancel(port::HttpId) override {}
};

class NoProcesses final : public port::Processes {
public:
    Number start(port::ProcessSpec, port::Fn<void(port::ProcessEnd)>) override { return 0; }
    void stop(Number) override {}
};

class NoClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override { return {}; }
    [[nodiscard]] Duration monotonic() const override { return {}; }
};

}  // namespace

std::expected<agent::Registry, Mistakes> assemble(config::Config const& config,
                                                  Means const& means) {
    agent::Registry registry;
    Mistakes mistakes;
    config.has_demo() ? agent::add_demo_agents(registry, means.mail)
                      : agent::add_builtin_tools(registry, means.mail);
    Models const models = make_models(config, means, mistakes);
    add_tools(registry, config, means, mistakes);
    add_gates(registry, config, mistakes);
    if (!mistakes.empty()) return std::unexpected(std::move(mistakes));
    add_agent_tools(registry, config);
    add_agents(registry, config, models);
    add_programs(registry, config, means);
    agent::add_call_agents(registry);
    return registry;
}

std::expected<agent::Registry, Mistakes> try_assemble(config::Config const& config) {
    NoHttp http;
    NoProcesses processes;
    NoClock const clock;
    external::Validators validators(processes, clock, {});
    return assemble(config, {http, processes, clock, validators});
}

}  // namespace dormouse::app
