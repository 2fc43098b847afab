#include "mcp_client/tool_list.h"

#include "base/text/chars.h"
#include "base/text/cut.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "mcp_client/library.h"

#include <algorithm>

namespace dormouse::mcp_client {
namespace {

// The core's limit is longer, for a connection that fails to keep its own.
constexpr Duration slack{10'000};
constexpr std::size_t shown_max = 80;

bool is_name(std::string_view name) { return !name.empty() && is_made_of(name, "_.:/-"); }

std::string shown(std::string const& name) {
    return "'" + cut_with_mark(name, shown_max, "…") + "'";
}

// Why the tool cannot be offered; empty: it can.
std::string unusable(ServerSettings const& server, std::string const& name, json::View schema) {
    if (is_library_tool(name))
        return "the name of the tool " + shown(name) + " is that of a method of the protocol";
    if (!is_name(name)) return "the name of the tool " + shown(name) + " has odd characters";
    if (prefix_of(server.name).size() + name.size() > name_bytes_max)
        return "the name of the tool " + shown(name) + " is too long";
    if (schema.kind() != json::Kind::object)
        return "the tool " + shown(name) + " has no inputSchema";
    if (schema.raw().size() > schema_bytes_max)
        return "the inputSchema of the tool " + shown(name) + " must be at most 64 KiB";
    for (json::Violation const& one : json::violations(schema.copy(), Json::trusted("{}")))
        if (one.pointer == "#" && !one.message.contains("required"))
            return "the inputSchema of the tool " + shown(name) + " is invalid: " + one.message;
    return {};
}

ForeignTool tool_of(std::string name, json::View tool) {
    json::View const hints = tool["annotations"];
    ForeignTool out{.name = std::move(name),
                    .description = cut_with_mark(tool["description"].string_or(""),
                                                 description_bytes_max, " … [cut]"),
                    .schema = json::compact(tool["inputSchema"].copy())};
    out.hints.read_only = hints["readOnlyHint"].boolean_or(false);
    out.hints.destructive = !out.hints.read_only && hints["destructiveHint"].boolean_or(true);
    out.hints.idempotent = hints["idempotentHint"].boolean_or(false);
    auto const task = tool["execution"]["taskSupport"].string_or("");
    out.as_task = task == "optional" || task == "required";
    return out;
}

}  // namespace

std::expected<ToolPage, std::string> read_tools(ServerSettings const& server, json::View result) {
    auto const list = result["tools"];
    if (list.kind() != json::Kind::array) return std::unexpected("its list of tools is no list");
    if (list.size() > tools_max) return std::unexpected("it has more than 500 tools");
    ToolPage out{.next = result["nextCursor"].string_or(""),
                 .lifetime = Duration(std::max<std::int64_t>(0, result["ttlMs"].integer_or(0)))};
    list.elements([&](json::View tool) {
        auto name = tool["name"].string_or("");
        auto why = unusable(server, name, tool["inputSchema"]);
        if (!why.empty()) return out.left_out.push_back(std::move(why));
        out.tools.push_back(tool_of(std::move(name), tool));
    });
    return out;
}

session::CrashPolicy crash_policy_of(Hints const& hints) {
    return hints.read_only || hints.idempotent ? session::CrashPolicy::retry
                                               : session::CrashPolicy::never;
}

bool asks_for(Asks asks, Hints const& hints) {
    return asks == Asks::all || (asks == Asks::destructive && hints.destructive);
}

agent::Tool declare(ServerSettings const& server, ForeignTool const& tool, bool tasks) {
    agent::Tool out;
    out.name = prefix_of(server.name) + tool.name;
    out.description = tool.description;
    out.schema = tool.schema;
    out.terms.crash = crash_policy_of(tool.hints);
    if (asks_for(server.asks, tool.hints)) out.terms.gates = {gate_name};
    out.terms.may_pause = {session::PauseReason::elicitation};
    if (tasks) {
        out.terms.may_pause.push_back(session::PauseReason::tool_result);
        out.terms.pause_timeout = server.task_limit;
    }
    out.terms.time_limit = server.start_limit + server.time_limit + slack;
    json::Writer definition;
    definition.begin_object().member("mcp", server.name).member("tool", tool.name);
    definition.member("url", server.url).key("command").begin_array();
    for (std::string const& word : server.argv) definition.value(word);
    out.definition = definition.end_array().end_object().json();
    return out;
}

}  // namespace dormouse::mcp_client
