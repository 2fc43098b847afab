#include "app/parts/tools.h"

#include "external/command_tool.h"
#include "external/gate_rule.h"
#include "external/http_tool.h"
#include "external/validator.h"
#include "io/process/service_manager.h"

namespace dormouse::app {

namespace {

external::Declared declared_of(config::Tool const& tool) {
    external::Declared out;
    out.name = tool.name;
    out.description = tool.description;
    if (!tool.input_schema.is_null()) out.input_schema = tool.input_schema;
    out.result_schema = tool.result_schema;
    out.crash = tool.crash;
    out.timeout = tool.timeout;
    out.estimated = tool.estimated;
    out.warn_before = tool.warn_before;
    out.webhook_url = tool.webhook_url;
    if (tool.webhook_secret) out.webhook_secret = tool.webhook_secret->value;
    out.time_limit = tool.time_limit;
    return out;
}

void add_variable(std::vector<std::string>& environment, std::string const& name) {
    if (auto const value = io::variable_now(name)) environment.push_back(name + "=" + *value);
}

external::Later later_of(config::Later later) {
    switch (later) {
        case config::Later::only_202: return external::Later::only_202;
        case config::Later::any_2xx: return external::Later::any_2xx;
        case config::Later::never: break;
    }
    return external::Later::never;
}

external::HttpTool http_tool(config::Tool const& tool) {
    external::HttpTool out;
    out.declared = declared_of(tool);
    out.method = tool.http.method;
    out.url = tool.http.url;
    for (config::Header const& header : tool.http.headers)
        out.headers.push_back({header.name, header.value});
    out.body = tool.http.body;
    out.later = later_of(tool.http.later);
    out.external_ref = tool.http.external_ref;
    if (auto const& poll = tool.http.poll)
        out.poll = external::Poll{poll->url, poll->every, poll->done, poll->output};
    if (tool.http.secret) out.secret = tool.http.secret->value;
    return out;
}

agent::Tool make_command(config::Tool const& tool, ToolServices const& services) {
    external::CommandTool out;
    out.declared = declared_of(tool);
    out.declared.later = tool.command.later;
    out.argv = tool.command.command;
    out.cwd = tool.command.cwd;
    out.environment = environment_of(tool.command.env_allow);
    return external::make_command_tool(std::move(out), services.processes);
}

}  // namespace

std::vector<std::string> base_environment() {
    std::vector<std::string> out;
    for (char const* const name : {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"})
        add_variable(out, name);
    return out;
}

std::vector<std::string> environment_of(std::vector<std::string> const& env_allow) {
    std::vector<std::string> out = base_environment();
    for (std::string const& name : env_allow) add_variable(out, name);
    return out;
}

Result<void> check_tool(config::Tool const& tool) {
    if (tool.kind != config::ToolKind::http) return {};
    return external::check_http_tool(http_tool(tool));
}

agent::Tool make_tool(config::Tool const& tool, ToolServices const& services) {
    bool const http = tool.kind == config::ToolKind::http;
    agent::Tool made =
        http ? *external::make_http_tool(http_tool(tool), services.http, services.clock)
             : make_command(tool, services);
    if (!tool.validator) return made;
    external::Validator validator{tool.validator->command, tool.validator->cwd,
                                  environment_of(tool.validator->env_allow),
                                  tool.validator->time_limit};
    return external::with_validator(std::move(made), std::move(validator), services.validators);
}

agent::Gate make_gate(config::Gate const& gate) {
    external::GateRule out;
    out.name = gate.id;
    out.tools = gate.tools;
    for (config::Condition const& one : gate.when)
        out.when.push_back({one.pointer, one.equals, one.pattern, one.min, one.max});
    out.ask = gate.ask;
    out.always_ask = gate.always_ask;
    out.answer = {gate.answerers, gate.need, gate.forbid_requester};
    out.timeout = gate.timeout;
    bool const denies = gate.on_expiry == config::OnExpiry::deny;
    out.on_expiry = denies ? session::OnDeadline::deny : session::OnDeadline::expire;
    out.escalate_to = gate.escalate_to;
    out.warn_before = gate.warn_before;
    out.remind_after = gate.remind_after;
    out.remind_every = gate.remind_every;
    return external::make_gate(std::move(out));
}

}  // namespace dormouse::app
