#include "cli/client/failure.h"

#include "cli/client/saved/known_agents.h"

#include "base/text/chars.h"
#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace dormouse::cli {
namespace {

struct Remedy {
    std::string_view code;
    std::string_view text;
};

// Advice for a user at a terminal, by code; other codes get the general advice for their `next`.
constexpr std::array remedies{
    Remedy{"unauthenticated",
           "Set $DORMOUSE_TOKEN, or name the server's data directory (it holds the token): --data "
           "DIR."},
    Remedy{"forbidden", "Use a token whose role allows this."},
    Remedy{"not_an_answerer", "Ask a person who may answer: dormouse pending --json lists them."},
    Remedy{"conflict", "See who settled it and how: dormouse explain ID."},
    Remedy{"expired", "Its time was up; see what became of it: dormouse explain ID."},
    Remedy{"cancelled", "It was cancelled; see by whom: dormouse explain ID."},
    Remedy{"session_busy",
           "Queue the prompt (--when queue), steer the turn (--when steer), or wait."},
    Remedy{"ambiguous", "Several calls wait for an answer; name one: --answers ID."},
    Remedy{"input_changed", "Check the changed arguments: dormouse pending. Then decide again."},
    Remedy{"wrong_kind", "Approvals take approve or deny; everything else result or error."},
    Remedy{"wrong_host",
           "Reach the server by the address that it listens on, or allow this host there."},
};

std::string general_advice(json::View problem) {
    auto const next = problem["next"].string_or("");
    auto const wait_ms = problem["retryAfter"].integer_or(0);
    if (next == "retry" && wait_ms > 0) {
        return "Try again in " + std::to_string((wait_ms + 999) / 1000) + " s.";
    }
    if (next == "retry") return "Try again.";
    if (next == "fix") return "Correct it and send it again.";
    if (next == "reopen") return "Open it again with a new prompt.";
    return {};
}

// Returns the command that a session in this state accepts; empty: none helps.
std::string_view remedy_of_state(json::View problem) {
    auto const state = problem["from"].string_or("");
    if (state == "error") return "Retry it: dormouse retry SESSION.";
    if (state == "paused") return "Resume it: dormouse resume SESSION.";
    bool const prompt = problem["move"].string_or("") == "prompt";
    return state == "completed" && prompt ? "Open it again: --reopen." : "";
}

// Returns the command that lists the valid values.
std::string_view remedy_of_place(std::string_view instance) {
    constexpr std::pair<std::string_view, std::string_view> places[] = {
        {"/api/tasks", "See the tasks of a session: dormouse tasks SESSION."},
        {"/api/mail", "See what there is: dormouse sent, dormouse alias."},
        {"/api/deliveries", "See them: dormouse deliveries."},
        {"/api/artifacts", "The messages of a session name its own: dormouse show SESSION."},
        {"/api/tokens", "See them: dormouse token list."},
        {"/api/sessions",
         "See them: dormouse sessions --all; those of an archive: with --archive DIR."},
        {"/async-tool", "See what waits: dormouse pending."},
    };
    for (auto const& [path, remedy] : places) {
        if (instance.starts_with(path)) return remedy;
    }
    return "See what there is: dormouse sessions, dormouse pending.";
}

// `detail` names the missing agent.
std::string remedy_of_agent(std::string_view detail) {
    for (KnownAgent const& agent : known_agents) {
        if (detail.contains("'" + std::string(agent.id) + "'"))
            return "It is not installed where the server runs: " + std::string(agent.install) +
                   ". Then start the server again.";
    }
    return "See them: dormouse agents.";
}

// Returns true for the path of a request that settles a call.
bool is_outcome(std::string_view instance) {
    constexpr std::string_view paths[] = {"/async-tool/result", "/async-tool/results",
                                          "/async-tool/error", "/async-tool/decision"};
    return std::ranges::find(paths, instance) != std::end(paths);
}

std::string remedy_of(json::View problem) {
    auto const code = problem["code"].string_or("");
    if (code == "wrong_state") return std::string(remedy_of_state(problem));
    auto const instance = problem["instance"].string_or("");
    if (code == "forbidden" && instance.starts_with("/async-tool/webhook"))
        return "Settle it yourself: dormouse approve, deny or answer CALL.";
    if (instance == "/api/reload" && problem["next"].string_or("") == "fix")
        return "Correct the file, then: dormouse reload.";
    if (code == "not_found") return std::string(remedy_of_place(instance));
    if (code == "wrong_kind" && instance.ends_with("/attach"))
        return "Only opencode has a screen of its own. Follow this session: dormouse tail SESSION.";
    if (code == "wrong_kind" && !is_outcome(instance)) return {};  // its detail says all
    // Only a prompt can be queued.
    if (code == "session_busy" && !instance.ends_with("/prompt"))
        return "Wait until its turn has ended (dormouse tail SESSION), or cancel it: dormouse "
               "cancel "
               "SESSION.";
    if (auto const detail = problem["detail"].string_or(""); detail.ends_with("(GET /api/agents)"))
        return remedy_of_agent(detail);
    auto const* const found = std::find_if(remedies.begin(), remedies.end(),
                                           [&](Remedy const& r) { return r.code == code; });
    if (found == remedies.end()) return general_advice(problem);
    std::string remedy(found->text);
    auto const settled = problem["receipt"]["pendingID"].string_or("");
    if (auto const at = remedy.find("explain ID"); at != std::string::npos && !settled.empty()) {
        remedy.replace(at + 8, 2, settled);
    }
    return remedy;
}

int exit_of_http(int http_status) {
    switch (http_status) {
        case 401:
        case 403: return status::not_allowed;
        case 404: return status::not_found;
        case 409: return status::conflict;
        case 410: return status::gone;
        case 429:
        case 503: return status::refused;
        default: return status::failed;
    }
}

int exit_of(std::string_view code, int http_status) {
    for (CodeInfo const& row : codes()) {
        if (row.text == code) return row.exit;
    }
    return exit_of_http(http_status);
}

// Returns the flag from which this member of the request was made; empty: it has the same name.
std::string_view option_of(std::string_view member) {
    constexpr std::pair<std::string_view, std::string_view> options[] = {
        {"agentID", "--agent"},
        {"agents", "--agents"},
        {"answers", "--answers"},
        {"arguments", "--arguments"},
        {"completedAfterMs", "--completed-after"},
        {"content", "--content"},
        {"description", "--description"},
        {"forMs", "--for"},
        {"key", "--key"},
        {"parts", "--file"},
        {"projects", "--projects"},
        {"reason", "--reason"},
        {"replyTo", "--reply-to"},
        {"role", "--role"},
        {"seq", "--seq"},
        {"title", "--title"},
        {"ttl", "--ttl"},
        {"ttlMs", "--ttl"},
        {"when", "--when"},
    };
    for (auto const& [name, option] : options) {
        if (name == member) return option;
    }
    return member;
}

// Converts "/forMs: must be …" to "--for: must be …"; drops routes.
std::string in_options(std::string detail) {
    if (detail.starts_with('/')) {
        auto const end = detail.find(": ");
        auto const pointer = detail.substr(1, end == detail.npos ? end : end - 1);
        if (!pointer.contains('/') && end != detail.npos)
            detail.replace(0, end, option_of(pointer));
    }
    constexpr std::string_view route = " (GET /api/";
    if (auto const at = detail.find(route); at != detail.npos && detail.ends_with(')'))
        detail.erase(at);
    return detail;
}

// Returns true if `detail` is complete without the title before it.
bool is_complete(std::string_view detail) {
    return detail.starts_with('/') || detail.starts_with("there is no ") ||
           detail.starts_with("unknown ") || is_upper_letter(detail.front());
}

// Returns where the request is wrong, when the problem names a place.
std::string place(json::View problem) {
    std::string out;
    if (auto const field = problem["field"].string()) out += " Field: " + *field + ".";
    if (auto const nearest = problem["nearest"].string(); nearest && !nearest->empty()) {
        out += " Did you mean " + *nearest + "?";
    }
    return out;
}

// Returns what a problem lists, one a line, without what `detail` has already.
std::string lists(json::View problem, std::string_view detail) {
    std::string out;
    problem["ids"].elements([&](json::View id) { out += "\n  " + id.string_or(""); });
    problem["mistakes"].elements([&](json::View one) { out += "\n  " + one.string_or(""); });
    auto const errors = problem["errors"];
    errors.elements([&](json::View error) {
        auto const message = error["message"].string_or("");
        if (errors.size() == 1 && !message.empty() && detail.contains(message)) return;
        out += "\n  " + error["pointer"].string_or("") + ": " + message;
    });
    return out;
}

}  // namespace

std::unexpected<Failure> failure(int exit, std::string what, std::string remedy) {
    return std::unexpected(Failure{exit, std::move(what), std::move(remedy), {}});
}

Failure failure_of_reply(int http_status, std::string_view body) {
    auto const checked = json::check(body);
    auto const problem = checked ? json::View(*checked) : json::View();
    if (!problem["code"].exists()) {
        return Failure{
            exit_of_http(http_status),
            "the server answered " + std::to_string(http_status) + " without a problem document",
            "Is this address a Dormouse server? Check --server or $DORMOUSE_URL.",
            {}};
    }
    auto const code = problem["code"].string_or("");
    auto what = problem["title"].string_or(code);
    if (auto const detail = problem["detail"].string();
        detail && !detail->empty() && *detail != what) {
        what = (is_complete(*detail) ? "" : what + ": ") + in_options(*detail);
    }
    what += place(problem) + " (" + code + ")" + lists(problem, problem["detail"].string_or(""));
    return Failure{exit_of(code, http_status), std::move(what), remedy_of(problem), *checked};
}

std::string text(Failure const& failure) {
    std::string out = "dormouse: " + escape_for_terminal(failure.what, true) + "\n";
    if (!failure.remedy.empty()) out += "  " + escape_for_terminal(failure.remedy, true) + "\n";
    return out;
}

Json failure_json(Failure const& failure) {
    if (!failure.problem.is_null()) return failure.problem;
    constexpr std::pair<int, std::string_view> codes[] = {{status::usage, "usage"},
                                                          {status::not_found, "not_found"},
                                                          {status::conflict, "conflict"},
                                                          {status::gone, "gone"},
                                                          {status::not_allowed, "not_allowed"},
                                                          {status::unreachable, "unreachable"},
                                                          {status::refused, "refused"},
                                                          {status::sleeps, "sleeps"},
                                                          {status::interrupted, "interrupted"}};
    std::string_view code = "failed";
    for (auto const& [exit, word] : codes)
        if (exit == failure.exit) code = word;
    json::Writer out;
    out.begin_object().member("type", "about:blank").member("title", failure.what);
    out.member("code", code).member("exit", failure.exit);
    if (!failure.remedy.empty()) out.member("remedy", failure.remedy);
    return out.end_object().json();
}

bool is_away(Failure const& failure) {
    return failure.exit == status::unreachable || failure.exit == status::refused;
}

std::string code_of(Failure const& failure) {
    return json::View(failure.problem)["code"].string_or("");
}

}  // namespace dormouse::cli
