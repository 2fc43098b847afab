#include "agent/builtin.h"

#include "json/json.h"
#include "session/limits.h"
#include "session/parts.h"

// Tools for background tasks. They only return what they want (TaskAsk); the session does it in the
// append of their outcome, so it cannot be done twice or in part.
namespace dormouse::agent {

using namespace dormouse::session;

namespace {

std::string string_in(Json const& input, std::string_view name) {
    return json::View(input)[name].string_or("");
}

// Returns {"type":"object", …} with these members and the required ones.
Json object_schema(std::string_view properties, std::string_view required) {
    return Json::trusted(R"({"type":"object","properties":{)" + std::string(properties) +
                         R"(},"required":[)" + std::string(required) +
                         R"(],"additionalProperties":false})");
}

constexpr std::string_view blocking =
    R"(,"block":{"type":"boolean","default":false,"description":"Wait for the end of the run."},)"
    R"("timeout":{"type":"integer","minimum":0,"maximum":600000,"default":60000,)"
    R"("description":"Maximum wait in ms, with block."})";

constexpr std::string_view task_member = R"("task_id":{"type":"string","minLength":1})";

void read_block(TaskAsk& ask, Json const& input) {
    json::View const in(input);
    ask.block = in["block"].boolean_or(false);
    if (ask.block) ask.timeout = Duration(in["timeout"].integer_or(60'000));
}

Tool asking(std::string name, std::string description, Json schema,
            std::function<ToolResult(Json const& input)> ask) {
    Tool tool;
    tool.name = std::move(name);
    tool.description = std::move(description);
    tool.schema = std::move(schema);
    tool.terms.crash = CrashPolicy::retry;
    tool.terms.may_pause = {PauseReason::handoff};
    tool.start = [ask = std::move(ask)](ToolCall const& call, port::Fn<void(ToolResult)> done) {
        done(ask(call.input));
        return StopTool();
    };
    return tool;
}

TaskAsk of_task(TaskAsk::What what, Json const& input) {
    TaskAsk ask;
    ask.what = what;
    ask.task = string_in(input, "task_id");
    return ask;
}

Tool background_task() {
    return asking(
        "background_task",
        "Starts an agent on something in the background. Returns the id of the task at once; you "
        "are notified when it has ended.",
        object_schema(
            R"("description":{"type":"string"},"prompt":{"type":"string","minLength":1},)"
            R"("agent":{"type":"string","minLength":1},"fork":{"type":"boolean",)"
            R"("default":false,"description":"It starts with the history of this conversation."})",
            R"("description","prompt","agent")"),
        [](Json const& input) {
            TaskAsk ask;
            ask.what = TaskAsk::What::start;
            ask.agent = string_in(input, "agent");
            ask.description = string_in(input, "description");
            ask.parts = text_parts(string_in(input, "prompt"));
            ask.fork = json::View(input)["fork"].boolean_or(false);
            return ask;
        });
}

Tool report_progress() {
    return asking(
        "report_progress",
        "For a task: reports progress to the session that started it, without waking it.",
        object_schema(R"("text":{"type":"string","minLength":1,"maxLength":4096})", R"("text")"),
        [](Json const& input) {
            TaskAsk ask;
            ask.what = TaskAsk::What::report;
            ask.description = string_in(input, "text");
            return ask;
        });
}

Tool background_output() {
    return asking(
        "background_output",
        "Returns what a background task has said. With block, waits for the end of its run.",
        object_schema(std::string(task_member) + std::string(blocking), R"("task_id")"),
        [](Json const& input) {
            TaskAsk ask = of_task(TaskAsk::What::output, input);
            read_block(ask, input);
            return ask;
        });
}

Tool background_resume() {
    return asking(
        "background_resume",
        "Sends a completed background task a further message. It remembers what was "
        "said; with block, gives its new response.",
        object_schema(std::string(task_member) + R"(,"message":{"type":"string","minLength":1})" +
                          std::string(blocking),
                      R"("task_id","message")"),
        [](Json const& input) {
            TaskAsk ask = of_task(TaskAsk::What::resume, input);
            ask.parts = text_parts(string_in(input, "message"));
            read_block(ask, input);
            return ask;
        });
}

Tool background_cancel() {
    return asking("background_cancel", "Cancels a background task, or all that run.",
                  object_schema(std::string(task_member) + R"(,"all":{"type":"boolean"})", ""),
                  [](Json const& input) -> ToolResult {
                      TaskAsk ask = of_task(TaskAsk::What::cancel, input);
                      bool const all = json::View(input)["all"].boolean_or(false);
                      if (all == !ask.task.empty())
                          return Failed{"Give either task_id or all: true."};
                      return ask;
                  });
}

Tool background_clear() {
    return asking("background_clear",
                  "Clears all background tasks: those that run are stopped, and none can be "
                  "resumed any more.",
                  object_schema("", ""),
                  [](Json const& input) { return of_task(TaskAsk::What::clear, input); });
}

Tool background_list() {
    return asking(
        "background_list", "The background tasks, or those of one status.",
        object_schema(
            R"("status":{"type":"string","enum":["running","completed","error","cancelled",)"
            R"("resumed"]})",
            ""),
        [](Json const& input) {
            TaskAsk ask = of_task(TaskAsk::What::list, input);
            ask.only = parse<TaskStatus>(string_in(input, "status"));
            return ask;
        });
}

}  // namespace

std::vector<Tool> task_tools() {
    return {background_task(),  background_output(), background_resume(), background_cancel(),
            background_clear(), background_list(),   report_progress()};
}

Tool agent_tool(AgentTool declared) {
    std::string const tool_name = declared.name;
    if (declared.description.empty())
        declared.description = "Runs the agent '" + declared.agent + "' and returns its answer.";
    Tool tool = asking(tool_name, std::move(declared.description),
                       object_schema(R"("prompt":{"type":"string","minLength":1})", R"("prompt")"),
                       [agent = std::move(declared.agent), timeout = declared.timeout,
                        tool_name](Json const& input) {
                           TaskAsk ask;
                           ask.what = TaskAsk::What::call;
                           ask.agent = agent;
                           ask.description = tool_name;
                           ask.parts = text_parts(string_in(input, "prompt"));
                           ask.timeout = timeout;
                           return ask;
                       });
    tool.terms.pause_timeout = declared.timeout;
    return tool;
}

}  // namespace dormouse::agent
