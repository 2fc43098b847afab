#include "cli/commands/pick.h"

#include "base/text/text.h"
#include "base/text/width.h"
#include "base/url.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr std::size_t offered_max = 20;
constexpr std::size_t searched_max = 200;

std::vector<std::string> ids_of(json::View items) {
    std::vector<std::string> out;
    items.elements([&](json::View item) { out.push_back(item["id"].string_or("")); });
    return out;
}

// Shows the numbered list, and reads a number.
Outcome<std::string> chosen(Context const& context, std::vector<std::string> const& ids,
                            std::string const& table) {
    context.err << table;
    for (;;) {
        context.err << "Which one? [1" << (ids.size() > 1 ? "-" + std::to_string(ids.size()) : "")
                    << "]: " << std::flush;
        std::string line;
        if (!std::getline(context.in, line) || line.empty())
            return failure(status::interrupted, "nothing was chosen");
        auto const number = parse_number(line);
        if (number && *number >= 1 && *number <= ids.size()) return ids[*number - 1];
    }
}

std::unexpected<Failure> no_terminal_for_session() {
    return failure(status::usage, "name a session: there is no terminal to choose one on",
                   "Name it; a unique beginning is enough. See them: dormouse sessions.");
}

Outcome<Reply> newest_sessions(Context const& context, Client& client, std::size_t limit) {
    return client.get("/api/projects/" + percent_encode(context.global.project) +
                      "/sessions?limit=" + std::to_string(limit));
}

// As the server's: a session in error, or at rest after a turn that failed.
bool can_be_retried(json::View session) {
    if (session["status"].string_or("") == "error") return true;
    return session["status"].string_or("") == "active" &&
           session["activity"]["type"].string_or("") == "idle" &&
           session["lastTurn"]["failed"].boolean_or(false);
}

}  // namespace

Outcome<std::string> pick_call(Context const& context, Client& client, Offered offered) {
    if (!context.may_ask)
        return failure(status::usage, "name a call: there is no terminal to choose one on",
                       "Name it; a unique beginning is enough. See what waits: dormouse pending.");
    auto const page = client.get("/async-tool/pending?limit=" + std::to_string(offered_max) +
                                 "&project=" + percent_encode(context.global.project) +
                                 (offered == Offered::approvals ? "&reason=approval" : ""));
    if (!page) return std::unexpected(page.error());
    json::View const items = json::View(page->body)["items"];
    if (items.size() == 0)
        return failure(status::not_found,
                       offered == Offered::approvals ? "no approval waits" : "nothing waits");
    auto const table = pending_table(items, context.now(), context.style, context.columns, 1);
    return chosen(context, ids_of(items), table);
}

Outcome<std::string> pick_session(Context const& context, Client& client) {
    if (!context.may_ask) return no_terminal_for_session();
    auto const page = newest_sessions(context, client, offered_max);
    if (!page) return std::unexpected(page.error());
    json::View const items = json::View(page->body)["items"];
    if (items.size() == 0)
        return failure(status::not_found, "there are no sessions",
                       "Start one: dormouse prompt 'TEXT'.");
    auto const table = sessions_table(items, context.now(), context.style, context.columns, 1);
    return chosen(context, ids_of(items), table);
}

Outcome<std::string> pick_failed_session(Context const& context, Client& client) {
    if (!context.may_ask) return no_terminal_for_session();
    auto const page = newest_sessions(context, client, searched_max);
    if (!page) return std::unexpected(page.error());
    json::Writer failed;
    failed.begin_array();
    std::size_t count = 0;
    json::View(page->body)["items"].elements([&](json::View session) {
        if (can_be_retried(session) && ++count <= offered_max) failed.raw(session.raw());
    });
    Json const items = failed.end_array().json();
    if (count == 0)
        return failure(status::not_found, "no session can be retried",
                       "It is for sessions whose last turn failed. See all: dormouse sessions.");
    auto const table =
        sessions_table(json::View(items), context.now(), context.style, context.columns, 1);
    return chosen(context, ids_of(json::View(items)), table);
}

Outcome<std::string> pick_message(Context const& context, Client& client,
                                  std::string const& session) {
    auto const page =
        client.get("/api/sessions/" + session + "/messages?limit=" + std::to_string(searched_max));
    if (!page) return std::unexpected(page.error());
    json::View const items = json::View(page->body)["items"];
    if (items.size() == 0) return failure(status::not_found, "the session has no messages");
    std::size_t skipped = items.size() - std::min(items.size(), offered_max);
    std::vector<std::string> ids;
    Table table({"#", "ROLE", {"MESSAGE", Narrow::words}});
    items.elements([&](json::View message) {
        if (skipped > 0) return void(--skipped);
        ids.push_back(message["id"].string_or(""));
        std::string text;
        message["parts"].elements([&](json::View part) {
            auto const shown = part["text"].string();
            text += (text.empty() ? "" : " ") + (shown ? *shown : "(" + plain(part["type"]) + ")");
        });
        table.add({std::to_string(ids.size()), plain(message["role"]), shortened(text, 200)});
    });
    return chosen(context, ids, table.text(context.style, context.columns));
}

namespace {

struct NamedArtifact {
    std::string id;
    std::string what;  // its name, or what the tool printed first
    std::int64_t bytes = 0;
};

// A file of a message, or an output that was too long for it.
void add_artifacts(json::View part, std::vector<NamedArtifact>& out) {
    for (json::View const view : {part, part["state"]["output"], part["state"]}) {
        auto const id = view["artifactID"].string();
        if (!id || std::ranges::find(out, *id, &NamedArtifact::id) != out.end()) continue;
        auto what = view["name"].string_or(view["head"].string_or(view["mime"].string_or("")));
        out.push_back({*id, std::move(what), view["bytes"].integer_or(0)});
    }
}

}  // namespace

Outcome<std::string> pick_artifact(Context const& context, Client& client,
                                   std::string const& session) {
    auto const page =
        client.get("/api/sessions/" + session + "/messages?limit=" + std::to_string(searched_max));
    if (!page) return std::unexpected(page.error());
    std::vector<NamedArtifact> found;
    json::View(page->body)["items"].elements([&](json::View message) {
        message["parts"].elements([&](json::View part) { add_artifacts(part, found); });
    });
    if (found.empty())
        return failure(status::not_found, "the messages of the session name no artifact");
    auto const first = found.size() - std::min(found.size(), offered_max);
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(first));
    std::vector<std::string> ids;
    Table table({"#", "BYTES", {"ARTIFACT", Narrow::words}});
    for (NamedArtifact const& one : found) {
        ids.push_back(one.id);
        table.add({std::to_string(ids.size()), std::to_string(one.bytes),
                   shortened(one.what.empty() ? one.id : one.what, 200)});
    }
    return chosen(context, ids, table.text(context.style, context.columns));
}

bool confirmed(Context const& context, std::string const& question) {
    context.err << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(context.in, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace dormouse::cli
