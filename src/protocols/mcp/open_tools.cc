#include "mcp/open_tools.h"

#include "base/url.h"
#include "mcp/tools.h"
#include "mcp/waiting.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::mcp {
namespace {

constexpr std::string_view approve_tool = "approve";
constexpr std::string_view ask_tool = "ask_human";
constexpr std::string_view collect_tool = "collect_answer";
constexpr std::size_t tool_name_max = 128;
constexpr std::size_t tool_use_max = 200;
constexpr std::size_t question_max = 16'384;
constexpr std::int64_t day_ms = 86'400'000;

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

std::string pending_path(std::string_view id) { return "/api/pending/" + percent_encode(id); }

ApiRequest new_call(std::string const& project, Json body) {
    std::string target = "/api/pending";
    if (!project.empty()) target += "?project=" + percent_encode(project);
    return {
        .method = "POST", .target = std::move(target), .body = std::move(body), .patient = true};
}

std::string behaviour(bool allowed, std::string_view member, std::string_view value) {
    json::Writer out;
    out.begin_object().member("behavior", allowed ? "allow" : "deny");
    return out.member_raw(member, value).end_object().take();
}

std::string denied(std::string const& why) { return behaviour(false, "message", json::quote(why)); }

// Only an approval of exactly what was asked allows anything.
std::string permission_of(json::View call, Json const& input) {
    auto const decision = call["decision"];
    auto const status = call["status"].string_or("");
    if (status == "expired") return denied("Nobody answered in time.");
    auto const approved = decision["approved"].boolean();
    if (!approved) return denied("The question was cancelled.");
    if (!*approved) {
        auto const by = call["receipt"]["by"]["name"].string();
        auto const reason = decision["reason"].string_or("");
        return denied("Denied" + (by ? " by " + *by : std::string()) +
                      (reason.empty() ? "." : ": " + reason));
    }
    if (!decision["arguments"].is_null())
        return denied("Other arguments were approved than were asked for.");
    return behaviour(true, "updatedInput", input.text());
}

std::string answer_words(json::View call) {
    auto const status = call["status"].string_or("");
    if (status == "waiting" || status == "processing")
        return "It still waits. Ask collect_answer again with id " + call["id"].string_or("") + ".";
    if (status != "completed") {
        auto const why = call["error"].string();
        return "There is no answer: " + status + (why ? ", " + *why : "") + ".";
    }
    auto const output = call["result"]["output"];
    return output.string().value_or(std::string(output.raw()));
}

// Characters that a name of a tool in Dormouse cannot have become "_".
std::string tool_name(std::string name) {
    for (char& c : name) {
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || std::string_view("_.:/-").contains(c);
        if (!plain) c = '_';
    }
    name.resize(std::min(name.size(), tool_name_max));
    return name;
}

void collect(ApiPtr const& api, std::string const& id, std::int64_t wait_ms,
             TicketPtr const& ticket, ToolDone done) {
    auto then = [done = std::move(done)](ApiAnswer call) mutable {
        if (!call) return done(std::unexpected(std::move(call.error())));
        done(answer_words(json::View(*call)));
    };
    if (wait_ms == 0) return api->ask({.target = pending_path(id)}, std::move(then));
    Waiting waiting{.target = pending_path(id),
                    .final = is_settled,
                    .until = api->now() + std::chrono::milliseconds(wait_ms)};
    wait_for(api, std::move(waiting), ticket, std::move(then));
}

void ask(ApiPtr const& api, std::string const& project, json::View arguments,
         TicketPtr const& ticket, ToolDone done) {
    auto const question = arguments["question"].string_or("");
    if (question.size() > question_max)
        return done(refused("question must be at most 16384 bytes"));
    json::Writer body;
    body.begin_object().member("question", question).member("kind", "answer").end_object();
    ApiRequest request = new_call(project, body.json());
    auto const wait = arguments["wait"].integer_or(0);
    api->ask(std::move(request),
             [api, ticket, wait, done = std::move(done)](ApiAnswer made) mutable {
                 if (!made) return done(std::unexpected(std::move(made.error())));
                 auto const id = json::View(*made)["pendingID"].string_or("");
                 if (wait > 0) return collect(api, id, wait, ticket, std::move(done));
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

void wait_for_decision(ApiPtr const& api, std::string const& id, Json const& input,
                       TicketPtr const& ticket, ToolDone done) {
    Waiting waiting{.target = pending_path(id), .final = is_settled};
    wait_for(api, std::move(waiting), ticket,
             [api, id, input, ticket, done = std::move(done)](ApiAnswer call) mutable {
                 if (ticket->over()) return withdraw(api, id, std::move(done));
                 if (!call) return done(std::unexpected(std::move(call.error())));
                 done(permission_of(json::View(*call), input));
             });
}

void approve(ApiPtr const& api, std::string const& project, json::View arguments,
             TicketPtr const& ticket, ToolDone done) {
    auto const name = tool_name(arguments["tool_name"].string_or(""));
    Json const input = json::compact(arguments["input"].copy());
    json::Writer body;
    body.begin_object().member("question", "May `" + name + "` run?").member("kind", "approval");
    body.member("tool", name).member("arguments", input).member("withinMs", day_ms);
    auto const use = arguments["tool_use_id"].string_or("");
    bool const named = !use.empty() && use.size() <= tool_use_max;
    if (named) body.member("externalRef", "mcp:" + use);
    ApiRequest request = new_call(project, body.end_object().json());
    // A client that asks again after it lost the connection finds its question.
    if (named) request.key = "mcp-approve-" + use;
    api->ask(std::move(request),
             [api, ticket, input, done = std::move(done)](ApiAnswer made) mutable {
                 if (!made) return done(std::unexpected(std::move(made.error())));
                 wait_for_decision(api, json::View(*made)["pendingID"].string_or(""), input, ticket,
                                   std::move(done));
             });
}

}  // namespace

void write_open_tools(json::Writer& out) { write_own_mcp_tools(out, open_tools); }

bool is_open_tool(std::string_view name) {
    return std::ranges::find(open_tools, name, &McpTool::name) != open_tools.end();
}

void call_open_tool(ApiPtr const& api, std::string const& project, std::string_view name,
                    Json const& arguments, TicketPtr const& ticket, ToolDone done) {
    auto const* const tool = std::ranges::find(open_tools, name, &McpTool::name);
    json::View const view(arguments);
    if (auto wrong = wrong_arguments(*tool, view); !wrong.empty())
        return done(refused(std::move(wrong)));
    if (name == approve_tool) return approve(api, project, view, ticket, std::move(done));
    if (name == ask_tool) return ask(api, project, view, ticket, std::move(done));
    collect(api, view["id"].string_or(""), view["wait"].integer_or(0), ticket, std::move(done));
}

}  // namespace dormouse::mcp
