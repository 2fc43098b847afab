#include "agent/builtin.h"
#include "agent/demo.h"

#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

std::string member(Json const& input, std::string_view name) {
    return json::View(input)[name].string_or("");
}

Json schema(std::string_view properties, std::string_view required) {
    return Json::trusted(R"({"type":"object","properties":{)" + std::string(properties) +
                         R"(},"required":[)" + std::string(required) +
                         R"(],"additionalProperties":false})");
}

Json text_schema(std::string const& name) {
    return schema("\"" + name + R"(":{"type":"string"})", "\"" + name + "\"");
}

PauseTerms register_deploy(Json const& input) {
    PauseTerms pause;
    json::Writer out;
    out.begin_object()
        .member("status", "queued")
        .member("target", member(input, "target"))
        .end_object();
    pause.placeholder = out.json();
    if (auto within = parse_duration(member(input, "within"))) pause.timeout = within;
    return pause;
}

Tool deploy_tool(std::string name, std::string description) {
    Tool tool;
    tool.name = std::move(name);
    tool.description = std::move(description);
    tool.schema = schema(R"("target":{"type":"string"},"within":{"type":"string"})", R"("target")");
    tool.terms.may_pause = {PauseReason::tool_result};
    tool.registers = register_deploy;
    return tool;
}

constexpr std::uint32_t answer_files_max = 8;

Json ask_schema() {
    return schema(
        R"("question":{"type":"string","description":"May be Markdown."},)"
        R"("choices":{"type":"array","maxItems":20,)"
        R"("description":"Answers to choose from; the person may write another one.",)"
        R"("items":{"type":"object","properties":{"title":{"type":"string"},)"
        R"("description":{"type":"string"}},"required":["title"],)"
        R"("additionalProperties":false}},)"
        R"("schema":{"type":"object","description":"JSON Schema of the answer. The person )"
        R"(fills in a form with its properties."},)"
        R"("files":{"type":"boolean","description":"The person may attach files."})",
        R"("question")");
}

Tool ask_human() {
    Tool tool;
    tool.name = "ask_human";
    tool.description = "Asks a person; the answer may come days later.";
    tool.schema = ask_schema();
    tool.terms.crash = CrashPolicy::retry;
    tool.terms.may_pause = {PauseReason::user_input};
    tool.registers = [](Json const& input) {
        PauseTerms pause;
        pause.reason = PauseReason::user_input;
        pause.continuation = Continuation::message;
        pause.message = member(input, "question");
        json::View const given(input);
        if (json::View const wanted = given["schema"]; wanted.kind() == json::Kind::object)
            pause.schema = wanted.copy();
        if (given["files"].boolean_or(false)) pause.files = answer_files_max;
        if (json::View const choices = given["choices"]; choices.size() > 0)
            pause.form = json::Writer()
                             .begin_object()
                             .member_raw("choices", choices.raw())
                             .end_object()
                             .json();
        return pause;
    };
    return tool;
}

// A timer that outlives the process: its outcome is its deadline.
Tool wait_for() {
    Tool tool;
    tool.name = "wait_for";
    tool.description = "Waits, without a process, for a time such as 5s, 3m or 2h.";
    tool.schema = text_schema("for");
    tool.terms.crash = CrashPolicy::retry;
    tool.terms.may_pause = {PauseReason::handoff};
    tool.registers = [](Json const& input) {
        PauseTerms pause;
        pause.reason = PauseReason::handoff;
        pause.continuation = Continuation::tool_response;
        pause.timeout = parse_duration(member(input, "for")).value_or(Duration(0));
        pause.on_deadline = OnDeadline::done;
        return pause;
    };
    return tool;
}

Tool dangerous() {
    Tool tool;
    tool.name = "dangerous";
    tool.description = "Does something that a person must allow first.";
    tool.schema = text_schema("action");
    tool.terms.gates = {"approval"};
    tool.run = [](ToolCall const& call, std::stop_token const&) -> ToolResult {
        json::Writer out;
        out.begin_object()
            .member("done", member(call.input, "action"))
            .member("runs", call.attempt)
            .end_object();
        return Done{out.json()};
    };
    return tool;
}

Tool failing() {
    Tool tool;
    tool.name = "fail";
    tool.description = "Fails, always.";
    tool.schema = schema("", "");
    tool.terms.crash = CrashPolicy::retry;
    tool.run = [](ToolCall const&, std::stop_token const&) -> ToolResult {
        return Failed{"this tool always fails"};
    };
    return tool;
}

// Longer than any time limit; after some centuries the clock's arithmetic would overflow.
constexpr Duration longest_sleep{24 * 3'600'000};

Tool sleepy(std::string name, CrashPolicy crash) {
    Tool tool;
    tool.name = std::move(name);
    tool.description = "Sleeps for the given time, then reports it.";
    tool.schema = text_schema("for");
    tool.terms.crash = crash;
    tool.run = [](ToolCall const& call, std::stop_token const& stop) -> ToolResult {
        std::string const time = member(call.input, "for");
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any woken;
        woken.wait_for(lock, stop,
                       std::min(parse_duration(time).value_or(Duration(0)), longest_sleep),
                       [] { return false; });
        if (stop.stop_requested()) return Failed{"stopped"};
        return Done{Json::trusted(json::quote("slept " + time))};
    };
    return tool;
}

// Asks a person once; the answer is the decision.
GateDecision decide_approval(GateCall const& call) {
    if (!call.decision) {
        PauseTerms pause;
        pause.reason = PauseReason::approval;
        pause.continuation = Continuation::reentry;
        pause.message = "Allow " + call.tool + " " + std::string(call.input.text()) + "?";
        return pause;
    }
    if (!call.decision->approved) {
        std::string const& reason = call.decision->reason;
        return Deny{"denied: " + (reason.empty() ? std::string("no reason given") : reason)};
    }
    Allow allow;
    if (!call.decision->arguments.is_null()) allow.input = call.decision->arguments;
    return allow;
}

}  // namespace

void add_builtin_tools(Registry& registry, FindMailer mail) {
    registry.add(ask_human());
    registry.add(wait_for());
    registry.add(artifact_emit());
    registry.add(todo());
    for (Tool& tool : task_tools()) registry.add(std::move(tool));
    registry.add(broadcast(std::move(mail)));
}

void add_demo_agents(Registry& registry, FindMailer mail) {
    registry.add(deploy_tool("deploy", "Starts a deployment; its result comes from outside."));
    registry.add(dangerous());
    Tool approve_deploy = deploy_tool("approve_deploy", "Deploys after a person has allowed it.");
    approve_deploy.terms.gates = {"approval"};
    registry.add(std::move(approve_deploy));
    add_builtin_tools(registry, std::move(mail));
    registry.add(failing());
    registry.add(sleepy("sleepy", CrashPolicy::retry));
    registry.add(sleepy("sleepy_never", CrashPolicy::never));
    registry.add(Gate{"approval", decide_approval});
    Agent demo;
    demo.id = "demo";
    demo.description = "A scripted agent to play with; it needs no network.";
    demo.model = std::make_shared<DemoModel>();
    for (Tool const& tool : registry.tools()) demo.tools.push_back(tool.name);
    demo.terms.digest = "demo-1";
    Agent each = demo;
    each.id = "demo-each";
    each.description = "Like demo, but the model is asked again as each call settles.";
    each.terms.join = {1, false};
    registry.add(std::move(demo));
    registry.add(std::move(each));
}

}  // namespace dormouse::agent
