#include "cli/commands/hook/exchange.h"

#include "base/text/chars.h"
#include "base/text/names.h"
#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::cli {
namespace {

constexpr std::string_view before_tool_event = "PreToolUse";

// Claude Code, Codex and Gemini CLI.
HookQuestion of_hook(json::View input) {
    HookQuestion out{.event = input["hook_event_name"].string_or(""),
                     .tool = input["tool_name"].string_or(""),
                     .folder = input["cwd"].string_or(""),
                     .session = input["session_id"].string_or("")};
    if (auto const given = input["tool_input"]; given.exists()) out.input = given.copy();
    return out;
}

// The plugin of opencode passes on the permission request, whose members depend on the release.
HookQuestion of_plugin(json::View input) {
    json::View const request = input["request"];
    HookQuestion out{
        .tool = request["permission"].string_or(request["type"].string_or("")),
        .folder = input["directory"].string_or(""),
        .session = request["sessionID"].string_or(""),
    };
    if (request.exists()) out.input = request.copy();
    return out;
}

bool is_known_event(HookProgram const& program, std::string_view event) {
    return event == program.event || (&program == &claude_code_hook && event == before_tool_event);
}

// A code span shows any text as it is. Control characters would end the line.
std::string code_span(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
    std::string fence = "`";
    while (text.contains(fence)) fence += '`';
    return fence + (fence.size() > 1 ? " " + text + " " : text) + fence;
}

bool is_plain(std::string_view path) { return is_made_of(path, "/.-"); }

std::string reason_text(HookDecision const& decision) {
    std::string out = decision.allowed ? "Approved" : "Denied";
    if (!decision.by.empty()) out += " by " + decision.by;
    if (!decision.reason.empty()) out += ": " + decision.reason;
    return out;
}

void write_permission_request(json::Writer& out, HookDecision const& decision) {
    out.begin_object().key("hookSpecificOutput").begin_object();
    out.member("hookEventName", "PermissionRequest").key("decision").begin_object();
    out.member("behavior", decision.allowed ? "allow" : "deny");
    if (!decision.allowed) out.member("message", reason_text(decision));
    out.end_object().end_object().end_object();
}

void write_before_tool(json::Writer& out, HookDecision const& decision) {
    out.begin_object().key("hookSpecificOutput").begin_object();
    out.member("hookEventName", before_tool_event);
    out.member("permissionDecision", decision.allowed ? "allow" : "deny");
    out.member("permissionDecisionReason", reason_text(decision));
    out.end_object().end_object();
}

// Without a decision Gemini CLI would follow its own policy, which may allow without asking.
void write_gemini(json::Writer& out, std::optional<HookDecision> const& decision) {
    out.begin_object();
    out.member("decision", !decision ? "ask" : decision->allowed ? "allow" : "deny");
    if (decision && !decision->allowed) out.member("reason", reason_text(*decision));
    out.end_object();
}

void write_opencode(json::Writer& out, HookDecision const& decision) {
    out.begin_object().member("reply", decision.allowed ? "once" : "reject");
    if (!decision.allowed) out.member("message", reason_text(decision));
    out.end_object();
}

}  // namespace

std::expected<HookQuestion, std::string> read_question(HookProgram const& program,
                                                       std::string_view text) {
    if (text.size() > hook_input_max) return std::unexpected("the input must be at most 1 MiB");
    auto const json = json::check(text);
    if (!json) return std::unexpected("the input is not JSON: " + json.error().detail);
    bool const is_plugin = program.event.empty();
    HookQuestion question = is_plugin ? of_plugin(json::View(*json)) : of_hook(json::View(*json));
    if (!is_plugin && !is_known_event(program, question.event))
        return std::unexpected("hook_event_name must be " + std::string(program.event));
    if (!is_tool_name(question.tool))
        return std::unexpected("the name of the tool must match [A-Za-z0-9_.:/-]{1,128}");
    if (json::View(question.input).kind() != json::Kind::object)
        return std::unexpected(std::string(is_plugin ? "request" : "tool_input") +
                               " must be an object");
    question.input = json::compact(question.input);
    if (question.input.size() > hook_arguments_max)
        return std::unexpected("the arguments of the tool must be at most 64 KiB");
    return question;
}

std::string heading(HookProgram const& program, HookQuestion const& question) {
    constexpr std::size_t folder_max = 4'096;
    std::string out = std::string(program.title) + " wants to run ";
    out += is_plain(question.tool) ? question.tool : code_span(question.tool);
    if (question.folder.empty() || question.folder.size() > folder_max) return out;
    return out + " in " +
           (is_plain(question.folder) ? question.folder : code_span(question.folder));
}

std::string decision_text(HookProgram const& program, std::string_view event,
                          std::optional<HookDecision> const& decision) {
    json::Writer out;
    if (&program == &gemini_hook) {
        write_gemini(out, decision);
    } else if (!decision) {
        return {};
    } else if (&program == &opencode_hook) {
        write_opencode(out, *decision);
    } else if (event == before_tool_event) {
        write_before_tool(out, *decision);
    } else {
        write_permission_request(out, *decision);
    }
    return out.take() + "\n";
}

}  // namespace dormouse::cli
