#include "mcp/questions.h"

#include "base/crypto/sha256.h"
#include "base/text/chars.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <utility>

namespace dormouse::mcp {
namespace {

constexpr std::size_t tool_name_max = 128;
constexpr std::size_t tool_use_max = 200;
constexpr std::size_t question_max = 16'384;
constexpr std::int64_t day_ms = 86'400'000;

// Characters that a name of a tool in Dormouse cannot have become "_".
std::string tool_name(std::string name) {
    for (char& c : name) {
        if (!is_letter_or_digit(c) && !std::string_view(".:/-").contains(c)) c = '_';
    }
    name.resize(std::min(name.size(), tool_name_max));
    return name;
}

ApiRequest new_call(std::string const& project, json::Writer& body) {
    std::string target = "/api/pending";
    if (!project.empty()) target += "?project=" + percent_encode(project);
    return {.method = "POST",
            .target = std::move(target),
            .body = body.end_object().json(),
            .patient = true};
}

void write_task(json::Writer& body, std::optional<TaskTerms> const& task) {
    if (!task) return;
    body.member("withinMs", task->ttl_ms).member("externalRef", task_reference(task->owner));
}

// The id as a part of an Idempotency-Key, which has no quote and no control character.
std::string part_of_key(std::string const& use) {
    bool const plain =
        std::ranges::all_of(use, [](char c) { return c > 0x20 && c < 0x7f && c != '"'; });
    return plain ? use : hex(sha256(use));
}

ApiRequest permission_request(std::string const& project, json::View arguments,
                              std::optional<TaskTerms> const& task) {
    auto const name = tool_name(arguments["tool_name"].string_or(""));
    json::Writer body;
    body.begin_object().member("question", "May `" + name + "` run?").member("kind", "approval");
    body.member("tool", name);
    body.member("arguments", json::compact(arguments["input"].copy()));
    auto const use = arguments["tool_use_id"].string_or("");
    bool const named = !use.empty() && use.size() <= tool_use_max;
    write_task(body, task);
    if (!task) {
        body.member("withinMs", day_ms);
        if (named) body.member("externalRef", "mcp:" + use);
    }
    ApiRequest request = new_call(project, body);
    // A client that asks again after it lost the connection finds its question.
    if (named)
        request.key = (task ? "mcp-task-" + task->owner + "-" : "mcp-approve-") + part_of_key(use);
    return request;
}

std::string behaviour(bool allowed, std::string_view member, std::string_view value) {
    json::Writer out;
    out.begin_object().member("behavior", allowed ? "allow" : "deny");
    return out.member_raw(member, value).end_object().take();
}

// Only an approval of exactly what was asked allows anything.
std::string permission_of(json::View call) {
    auto const decision = call["decision"];
    if (call["status"].string_or("") == "expired") return denied("Nobody answered in time.");
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
    return behaviour(true, "updatedInput", call["input"].raw());
}

}  // namespace

std::string task_reference(std::string_view owner) { return "mcp-task:" + std::string(owner); }

std::string pending_path(std::string_view id) { return "/api/pending/" + percent_encode(id); }

std::string denied(std::string const& why) { return behaviour(false, "message", json::quote(why)); }

std::expected<ApiRequest, Refusal> question_of(std::string const& project, std::string_view tool,
                                               json::View arguments,
                                               std::optional<TaskTerms> const& task) {
    if (tool == approve_tool) return permission_request(project, arguments, task);
    auto const question = arguments["question"].string_or("");
    if (question.size() > question_max) return refused("question must be at most 16384 bytes");
    json::Writer body;
    body.begin_object().member("question", question).member("kind", "answer");
    write_task(body, task);
    return new_call(project, body);
}

ToolText answer_of(json::View call) {
    auto const status = call["status"].string_or("");
    bool const open = status == "waiting" || status == "processing";
    if (open)
        return "It still waits. Ask collect_answer again with id " + call["id"].string_or("") + ".";
    if (call["reason"].string_or("") == "approval") return permission_of(call);
    if (status != "completed") {
        auto const why = call["error"].string();
        return refused("There is no answer: " + status + (why ? ", " + *why : "") + ".");
    }
    auto const output = call["result"]["output"];
    return output.string().value_or(std::string(output.raw()));
}

}  // namespace dormouse::mcp
