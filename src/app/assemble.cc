#include "app/assemble.h"

#include "agent/demo.h"
#include "external/command_tool.h"
#include "external/gate_rule.h"
#include "external/http_tool.h"
#include "json/json.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace dormouse::app {

namespace {

using Models = std::map<std::string, std::shared_ptr<agent::Model>>;

// "FILE:LINE: "
std::string at(config::Config const& config, std::uint32_t line) {
    return config.file + ":" + std::to_string(line) + ": ";
}

Models make_models(config::Config const& config, Mistakes& mistakes) {
    Models out;
    for (config::Model const& model : config.models) {
        if (model.kind == config::ModelKind::scripted) {
            out[model.id] = std::make_shared<agent::DemoModel>();
        } else {
            mistakes.push_back(at(config, model.line) + "[[model]] " + model.id + ": kind \"" +
                               std::string(text(model.kind)) +
                               "\" comes with a later release; leave it out until then");
        }
    }
    return out;
}

external::Declared declared(config::Tool const& tool) {
    return {.name = tool.name,
            .description = tool.description,
            .input_schema = tool.input_schema,
            .result_schema = tool.result_schema,
            .crash = tool.crash,
            .timeout = tool.timeout,
            .estimated = tool.estimated,
            .time_limit = tool.time_limit};
}

// $PATH, and what the tool is allowed to see.
std::vector<std::string> environment_of(config::CommandTool const& tool) {
    std::vector<std::string> names = tool.env_allow;
    if (std::ranges::find(names, "PATH") == names.end()) names.emplace_back("PATH");
    std::vector<std::string> out;
    for (std::string const& name : names) {
        if (char const* const value = std::getenv(name.c_str())) out.push_back(name + "=" + value);
    }
    return out;
}

agent::Tool make_command_tool(config::Tool const& tool, Means const& means) {
    external::CommandTool out{declared(tool), tool.command.command, tool.command.cwd,
                              environment_of(tool.command)};
    return external::make_command_tool(std::move(out), means.processes);
}

Result<agent::Tool> make_http_tool(config::Tool const& tool, Means const& means) {
    if (tool.http.poll) {
        return fail(Code::bad_value, "poll comes with a later release; leave it out until then");
    }
    external::HttpTool out{.declared = declared(tool),
                           .method = tool.http.method,
                           .url = tool.http.url,
                           .body = tool.http.body,
                           .later = static_cast<external::Later>(tool.http.later),
                           .external_ref = tool.http.external_ref};
    for (config::Header const& header : tool.http.headers) {
        out.headers.push_back({header.name, header.value});
    }
    if (tool.http.secret) out.secret = tool.http.secret->value;
    return external::make_http_tool(std::move(out), means.http, means.clock);
}
static_assert(static_cast<int>(config::Later::never) == static_cast<int>(external::Later::never) &&
              static_cast<int>(config::Later::any_2xx) ==
                  static_cast<int>(external::Later::any_2xx));

void add_tools(agent::Registry& registry, config::Config const& config, Means const& means,
               Mistakes& mistakes) {
    for (config::Tool const& tool : config.tools) {
        auto made = tool.kind == config::ToolKind::command
                        ? Result<agent::Tool>(make_command_tool(tool, means))
                        : make_http_tool(tool, means);
        if (made) {
            registry.add(std::move(*made));
        } else {
            mistakes.push_back(at(config, tool.line) + "[[tool]] " + tool.name + ": " +
                               made.error().detail);
        }
    }
}

void add_gates(agent::Registry& registry, config::Config const& config, Mistakes& mistakes) {
    for (config::Gate const& gate : config.gates) {
        if (gate.forbid_requester) {
            mistakes.push_back(at(config, gate.line) + "[[gate]] " + gate.id +
                               ": forbid_requester comes with a later release; leave it out until "
                               "then");
            continue;
        }
        registry.add(external::make_gate({.name = gate.id,
                                          .tools = gate.tools,
                                          .ask = gate.ask,
                                          .answer = {.from = gate.answerers, .need = gate.need},
                                          .timeout = gate.timeout,
                                          .on_expiry = gate.on_expiry == config::OnExpiry::deny
                                                           ? session::OnDeadline::deny
                                                           : session::OnDeadline::tell}));
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
        out.instructions = from.instructions;
        out.model_id = from.model;
        registry.add(std::move(out));
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
    config.has_demo() ? agent::add_demo_agents(registry) : agent::add_builtin_tools(registry);
    Models const models = make_models(config, mistakes);
    add_tools(registry, config, means, mistakes);
    add_gates(registry, config, mistakes);
    if (!mistakes.empty()) return std::unexpected(std::move(mistakes));
    add_agents(registry, config, models);
    return registry;
}

std::expected<agent::Registry, Mistakes> try_assemble(config::Config const& config) {
    NoHttp http;
    NoProcesses processes;
    NoClock const clock;
    return assemble(config, {http, processes, clock});
}

}  // namespace dormouse::app
