#include "mcp/open_tools.h"

#include "base/url.h"
#include "mcp/questions.h"
#include "mcp/tools.h"
#include "mcp/waiting.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::mcp {
namespace {

constexpr std::string_view collect_tool = "collect_answer";

constexpr std::array<McpTool, 3> open_tools{{
    {approve_tool,
     "Asks people whether a tool may run, and waits for their decision. For Claude Code's "
     "--permission-prompt-tool.",
     R"({"type":"object","properties":{"tool_name":{"type":"string","minLength":1},"input":)"
     R"({"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input"],)"
     R"("additionalProperties":false})"},
    {ask_tool,
     "Asks a person. Returns an id at once, with which collect_answer returns the answer; with "
     "wait, waits that many ms for it.",
     R"({"type":"object","properties":{"question":{"type":"string","minLength":1},"wait":{"type":)"
     R"("integer","minimum":0,"maximum":86400000,"default":0}},"required":["question"],)"
     R"("additionalProperties":false})"},
    {collect_tool, "Returns the answer to a question, or says that it still waits.",
     R"({"type":"object","properties":{"id":{"type":"string","minLength":1},"wait":{"type":)"
     R"("integer","minimum":0,"maximum":86400000,"default":0}},"required":["id"],)"
     R"("additionalProperties":false})"},
}};

void collect(ApiPtr const& api, std::string const& id, std::int64_t wait_ms, Elicits const& elicits,
             TicketPtr const& ticket, ToolDone done) {
    auto then = [elicits, ticket, done = std::move(done)](ApiAnswer call) mutable {
        if (!call) return done(std::unexpected(std::move(call.error())));
        end_elicitation(json::View(*call), elicits, ticket);
        done(answer_of(json::View(*call)));
    };
    if (wait_ms == 0) return api->ask({.target = pending_path(id)}, std::move(then));
    Waiting waiting{.target = pending_path(id),
                    .final = is_settled,
                    .until = api->now() + std::chrono::milliseconds(wait_ms)};
    wait_for(api, std::move(waiting), ticket, std::move(then));
}

void ask(ApiPtr const& api, std::string const& project, json::View arguments,
         Elicits const& elicits, TicketPtr const& ticket, ToolDone done) {
    auto request = question_of(project, ask_tool, arguments, {});
    if (!request) return done(std::unexpected(std::move(request.error())));
    auto const wait = arguments["wait"].integer_or(0);
    api->ask(*std::move(request),
             [api, elicits, ticket, wait, done = std::move(done)](ApiAnswer made) mutable {
                 if (!made) return done(std::unexpected(std::move(made.error())));
                 auto const id = json::View(*made)["pendingID"].string_or("");
                 if (wait > 0) {
                     elicit(json::View(*made)["call"], elicits, {}, ticket);
                     return collect(api, id, wait, elicits, ticket, std::move(done));
                 }
                 done("Asked: " + id +
                      ". A person answers, perhaps days later; collect_answer "
                      "with this id returns the answer.");
             });
}

// The client no longer waits: nobody would read the decision.
void withdraw(ApiPtr const& api, std::string const& id, ToolDone done) {
    api->ask({.method = "DELETE",
              .target =
                  pending_path(id) + "?reason=" + percent_encode("the MCP client no longer waits")},
             [done = std::move(done)](ApiAnswer const&) mutable {
                 done(denied("The question was withdrawn."));
             });
}

void wait_for_decision(ApiPtr const& api, std::string const& id, Elicits const& elicits,
                       TicketPtr const& ticket, ToolDone done) {
    Waiting waiting{.target = pending_path(id), .final = is_settled};
    wait_for(api, std::move(waiting), ticket,
             [api, id, elicits, ticket, done = std::move(done)](ApiAnswer call) mutable {
                 if (ticket->over()) return withdraw(api, id, std::move(done));
                 if (!call) return done(std::unexpected(std::move(call.error())));
                 end_elicitation(json::View(*call), elicits, ticket);
                 done(answer_of(json::View(*call)));
             });
}

void approve(ApiPtr const& api, std::string const& project, json::View arguments,
             Elicits const& elicits, TicketPtr const& ticket, ToolDone done) {
    auto request = question_of(project, approve_tool, arguments, {});
    if (!request) return done(std::unexpected(std::move(request.error())));
    api->ask(*std::move(request),
             [api, elicits, ticket, done = std::move(done)](ApiAnswer made) mutable {
                 if (!made) return done(std::unexpected(std::move(made.error())));
                 elicit(json::View(*made)["call"], elicits, {}, ticket);
                 wait_for_decision(api, json::View(*made)["pendingID"].string_or(""), elicits,
                                   ticket, std::move(done));
             });
}

}  // namespace

void write_open_tools(json::Writer& out, bool tasks) {
    for (McpTool const& tool : open_tools) {
        out.begin_object();
        write_mcp_tool(out, tool);
        if (tasks && asks_question(tool.name))
            out.key("execution").begin_object().member("taskSupport", "optional").end_object();
        out.end_object();
    }
}

std::string wrong_open_arguments(std::string_view name, json::View arguments) {
    return wrong_arguments(*std::ranges::find(open_tools, name, &McpTool::name), arguments);
}

bool is_open_tool(std::string_view name) {
    return std::ranges::find(open_tools, name, &McpTool::name) != open_tools.end();
}

void call_open_tool(ApiPtr const& api, std::string const& project, std::string_view name,
                    Json const& arguments, Elicits const& elicits, TicketPtr const& ticket,
                    ToolDone done) {
    json::View const view(arguments);
    if (auto wrong = wrong_open_arguments(name, view); !wrong.empty())
        return done(refused(std::move(wrong)));
    if (name == approve_tool) return approve(api, project, view, elicits, ticket, std::move(done));
    if (name == ask_tool) return ask(api, project, view, elicits, ticket, std::move(done));
    collect(api, view["id"].string_or(""), view["wait"].integer_or(0), {}, ticket, std::move(done));
}

}  // namespace dormouse::mcp
