// status: the server, what its sessions do, what waits, and how much space is left.

#include "base/text/text.h"
#include "base/url.h"
#include "cli/commands/commands.h"

#include <array>
#include <ostream>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr int calls_shown = 5;

std::string size_text(std::int64_t bytes) {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    if (bytes >= 10 * gib) return std::to_string(bytes / gib) + " GiB";
    return std::to_string((bytes + mib - 1) / mib) + " MiB";
}

// Parts that the token may not read are null.
Outcome<Json> readable(Client& client, std::string const& target) {
    auto const reply = client.get(target);
    if (reply) return reply->body;
    if (code_of(reply.error()) == "forbidden") return Json::trusted("null");
    return std::unexpected(reply.error());
}

struct Status {
    std::string url;
    Json ready = {};
    Json nodes = {};
    Json sessions = {};
    Json pending = {};
};

Outcome<Status> read_status(Context const& context, Client& client) {
    auto const project = percent_encode(context.global.project);
    Status out{.url = server_url(context.global, context.env)};
    auto const ready = client.get("/readyz");
    if (!ready) return std::unexpected(ready.error());
    out.ready = ready->body;
    std::pair<Json*, std::string> const parts[] = {
        {&out.nodes, "/api/nodes"},
        {&out.sessions, "/api/projects/" + project + "/sessions?limit=1&counts=true"},
        {&out.pending, "/api/pending?status=waiting&project=" + project +
                           "&limit=" + std::to_string(calls_shown)}};
    for (auto const& [to, target] : parts) {
        auto part = readable(client, target);
        if (!part) return std::unexpected(part.error());
        *to = *std::move(part);
    }
    return out;
}

json::View first(json::View items) {
    json::View out;
    bool found = false;
    items.elements([&](json::View one) {
        if (!std::exchange(found, true)) out = one;
    });
    return out;
}

std::string server_text(Status const& status) {
    json::View const node = first(json::View(status.nodes)["items"]);
    std::string out = "server    " + escape_for_terminal(status.url);
    if (node.is_null()) return out + "\n";
    out += ", release " + escape_for_terminal(node["release"].string_or("")) + ", up " +
           in_words(Duration(node["uptimeMs"].integer_or(0))) + "\n";
    json::View const data = node["data"];
    auto const directory = data["directory"].string_or("");
    if (directory.empty()) return out;
    return out + "data      " + escape_for_terminal(directory) + ": " +
           size_text(data["bytes"].integer_or(0)) + ", " +
           size_text(data["freeBytes"].integer_or(0)) + " free\n";
}

std::string sessions_text(Context const& context, json::View counts) {
    constexpr std::array states{"running", "waiting", "paused", "failed", "completed"};
    std::string out = "sessions  " + std::to_string(counts["all"].integer_or(0)) +
                      (counts["complete"].boolean_or(true) ? "" : " or more") + " in project " +
                      escape_for_terminal(context.global.project);
    std::string_view glue = ": ";
    for (char const* const state : states) {
        auto const count = counts[state].integer_or(0);
        if (count == 0) continue;
        out += std::string(std::exchange(glue, ", ")) + std::to_string(count) + " " + state;
    }
    return out + "\n";
}

std::string text_of(Context const& context, Status const& status) {
    std::string out = server_text(status);
    if (json::View(status.ready)["held"].boolean_or(false))
        out += context.style(Paint::yellow, "held      ") +
               "a restored copy: nothing is started until dormouse release\n";
    json::View const sessions(status.sessions);
    if (!sessions.is_null()) out += sessions_text(context, sessions["counts"]);
    json::View const pending(status.pending);
    if (pending["items"].size() == 0) return out;
    out += "\n" + pending_table(pending["items"], context.now(), context.style, context.columns,
                                context.first_line());
    if (!pending["next"].is_null()) out += "More: dormouse pending\n";
    return out;
}

std::vector<std::string> shown_calls(Status const& status) {
    std::vector<std::string> out;
    json::View(status.pending)["items"].elements(
        [&](json::View call) { out.push_back(call["id"].string_or("")); });
    return out;
}

Json json_of(Status const& status) {
    json::Writer out;
    out.begin_object().member("server", status.url);
    out.member("held", json::View(status.ready)["held"].boolean_or(false));
    out.member_raw("node", first(json::View(status.nodes)["items"]).raw());
    json::View const counts = json::View(status.sessions)["counts"];
    out.member_raw("sessions", counts.exists() ? counts.raw() : "null");
    json::View const waiting = json::View(status.pending)["items"];
    out.member_raw("waiting", waiting.exists() ? waiting.raw() : "null");
    return out.end_object().json();
}

}  // namespace

Outcome<int> execute(Context const& context, StatusArgs const& /*args*/) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const status = read_status(context, *client);
    if (!status) return std::unexpected(status.error());
    context.show(json_of(*status), text_of(context, *status));
    context.remember(shown_calls(*status));
    return status::done;
}

}  // namespace dormouse::cli
