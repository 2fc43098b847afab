#include "external/command_tool.h"

#include "json/json.h"
#include "session/limits.h"

#include <memory>

namespace dormouse::external {

using namespace dormouse::session;
using port::ProcessEnd;

namespace {

constexpr std::size_t describe_error = 2'000;
constexpr std::size_t kept_of_error = 4'096;

std::vector<std::string> environment(CommandTool const& tool, agent::ToolCall const& call) {
    std::vector<std::string> out = tool.environment;
    auto const add = [&](std::string_view name, std::string const& value) {
        out.push_back(std::string(name) + "=" + value);
    };
    add("DORMOUSE_PENDING_ID", call.pending.text());
    add("DORMOUSE_IDEMPOTENCY_KEY", call.idempotency_key());
    add("DORMOUSE_SESSION_ID", call.session_id().text());
    add("DORMOUSE_CALL_ID", call.call_id());
    add("DORMOUSE_TOOL", call.tool);
    add("DORMOUSE_ATTEMPT", std::to_string(call.attempt));
    if (!call.trace.parent.empty()) add("TRACEPARENT", call.trace.parent);
    if (!call.trace.state.empty()) add("TRACESTATE", call.trace.state);
    if (!call.callback_url.empty()) add("DORMOUSE_CALLBACK_URL", call.callback_url);
    if (call.deadline) add("DORMOUSE_DEADLINE", std::to_string(to_ms(*call.deadline)));
    return out;
}

constexpr std::string_view never_later =
    "the program reports that its result comes later, but its tool has later = \"never\"";

bool says_later(ProcessEnd const& end) {
    bool const ended_well = end.how == ProcessEnd::How::exited && end.status == 0;
    return (end.how == ProcessEnd::How::exited && end.status == exit_later) ||
           (ended_well && !end.side.empty());
}

// Reads descriptor 3: nothing, or one line {"pending": {…}}.
Result<PauseTerms> later(CommandTool const& tool, ProcessEnd const& end) {
    std::string const line = tail(end.side, end.side.size());
    if (line.empty()) return read_pause(tool.declared, json::View());
    auto const checked = json::check(line);
    if (!checked) return fail(Code::bad_json, "not JSON: " + checked.error().detail);
    json::View const view(*checked);
    if (view.kind() != json::Kind::object || view.size() != 1 || !view["pending"].exists())
        return fail(Code::bad_value, "must be one line {\"pending\": {…}}");
    return read_pause(tool.declared, view["pending"]);
}

agent::ToolResult later_result(CommandTool const& tool, ProcessEnd const& end) {
    auto pause = later(tool, end);
    if (pause) return std::move(*pause);
    return agent::Failed{"the program's line on descriptor 3 is invalid: " + pause.error().detail};
}

std::string last_output(ProcessEnd const& end) {
    std::string const error = tail(end.error, describe_error);
    return error.empty() ? "" : ": " + error;
}

// Standard error is for people: it becomes metadata, which the model does not see.
agent::Done done_of(ProcessEnd const& end) {
    agent::Done done{output_of(end.output)};
    std::string const error = tail(end.error, kept_of_error);
    if (error.empty()) return done;
    json::Writer metadata;
    metadata.begin_object().member("stderr", error);
    done.metadata = metadata.end_object().json();
    return done;
}

agent::ToolResult result_of(CommandTool const& tool, ProcessEnd const& end) {
    switch (end.how) {
        case ProcessEnd::How::not_started:
            return agent::Failed{
                "the program '" + tool.argv.front() + "' cannot be started: " + end.error,
                end.try_again};
        case ProcessEnd::How::flooded:
            return agent::Failed{"the program exceeded its output limit of 8 MiB and was ended"};
        case ProcessEnd::How::timed_out:
            return InDoubt{"the program took longer than its time limit of " +
                           std::to_string(tool.declared.time_limit.count() / 1000) +
                           " s and was ended" + last_output(end)};
        case ProcessEnd::How::signalled:
            return InDoubt{"the program was ended by signal " + std::to_string(end.status) +
                           last_output(end)};
        case ProcessEnd::How::exited: break;
    }
    if (says_later(end) && !tool.declared.later) return agent::Failed{std::string(never_later)};
    if (says_later(end)) return later_result(tool, end);
    if (end.status != 0)
        return agent::Failed{"exit status " + std::to_string(end.status) + last_output(end)};
    return checked(tool.declared, done_of(end));
}

port::ProcessSpec spec_of(CommandTool const& tool, agent::ToolCall const& call) {
    port::ProcessSpec spec;
    spec.argv = tool.argv;
    spec.cwd = tool.cwd;
    spec.environment = environment(tool, call);
    spec.input = std::string(call.input.text()) + "\n";
    spec.time_limit = tool.declared.time_limit;
    spec.output_max = limits::artifact_bytes_max;
    spec.may_start = call.may_start.ask();
    // The result may come from a job that the program has started and left running.
    if (tool.declared.later) spec.may_leave_behind = says_later;
    return spec;
}

}  // namespace

namespace {

Json definition_of(CommandTool const& options) {
    json::Writer out;
    out.begin_object().key("command").begin_array();
    for (std::string const& word : options.argv) out.value(word);
    return out.end_array().member("cwd", options.cwd).end_object().json();
}

}  // namespace

agent::Tool make_command_tool(CommandTool options, port::Processes& processes) {
    agent::Tool tool = declare(options.declared);
    tool.definition = definition_of(options);
    auto const shared = std::make_shared<CommandTool const>(std::move(options));
    tool.start = [shared, &processes](agent::ToolCall const& call,
                                      port::Fn<void(agent::ToolResult)> done) -> agent::StopTool {
        auto ended = [shared, done = std::move(done)](ProcessEnd const& end) mutable {
            done(result_of(*shared, end));
        };
        auto const number = processes.start(spec_of(*shared, call), std::move(ended));
        return [&processes, number] { processes.stop(number); };
    };
    return tool;
}

}  // namespace dormouse::external
