#include "cli/client/resolve.h"

#include <dormouse/id.h>

#include "base/text/text.h"
#include "base/text/width.h"
#include "base/url.h"
#include "cli/client/saved/last_list.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr std::size_t shown_max = 8;

std::string listed(std::vector<std::string> const& ids) {
    std::string out;
    for (std::size_t i = 0; i < ids.size() && i < shown_max; ++i) out += "\n  " + ids[i];
    if (ids.size() > shown_max)
        out += "\n  and " + std::to_string(ids.size() - shown_max) + " more";
    return out;
}

std::string_view noun(std::string_view prefix) { return prefix == "pnd_" ? "call" : "session"; }

// Reads a list page by page, newest first, until `each` returns false.
Outcome<void> each_item(Client& client, std::string const& target,
                        std::function<bool(json::View)> const& each) {
    std::string cursor;
    for (std::size_t seen = 0; seen < resolve_max;) {
        auto const page =
            client.get(target + (cursor.empty() ? "" : "&cursor=" + percent_encode(cursor)));
        if (!page) return std::unexpected(page.error());
        bool go_on = true;
        json::View const body(page->body);
        body["items"].elements([&](json::View item) { go_on = go_on && each(item); });
        seen += body["items"].size();
        cursor = body["next"].string_or("");
        if (!go_on || cursor.empty()) return {};
    }
    return {};
}

Outcome<std::string> resolve(Client& client, std::string const& target, std::string const& given,
                             std::string_view prefix) {
    std::vector<std::string> ids;
    std::string by_alias;
    auto const done = each_item(client, target, [&](json::View item) {
        ids.push_back(item["id"].string_or(""));
        if (item["alias"].string_or("") == given) by_alias = ids.back();
        return ids.back() != given;
    });
    if (!done) return std::unexpected(done.error());
    if (!by_alias.empty()) return by_alias;
    return match(given, prefix, ids);
}

constexpr std::size_t id_length = 22;    // of a session's id after its prefix
constexpr std::size_t searched_max = 8;  // sessions whose calls are searched

// Returns the sessions that a call may belong to, by the beginning of its id.
Outcome<std::vector<std::string>> sessions_beginning(Client& client, std::string const& project,
                                                     std::string const& beginning) {
    if (SessionId::parse(beginning)) return std::vector{beginning};
    std::vector<std::string> found;
    auto const target = "/api/projects/" + percent_encode(project) + "/sessions?limit=200";
    auto const done = each_item(client, target, [&](json::View item) {
        auto id = item["id"].string_or("");
        if (id.starts_with(beginning)) found.push_back(std::move(id));
        return true;
    });
    if (!done) return std::unexpected(done.error());
    return found;
}

constexpr std::string_view cut_mark = "…";

// Finds an open call by the end of its id, which tables show as "…ENDING".
Outcome<std::string> open_call_ending(Client& client, std::string const& project,
                                      std::string_view ending) {
    constexpr std::size_t ending_min = 4;
    if (ending.starts_with(cut_mark)) ending.remove_prefix(cut_mark.size());
    std::vector<std::string> ids;
    auto const target = "/async-tool/pending?limit=200&project=" + percent_encode(project);
    auto const done = each_item(client, target, [&](json::View item) {
        auto id = item["id"].string_or("");
        if (ending.size() >= ending_min && id.ends_with(ending)) ids.push_back(std::move(id));
        return true;
    });
    if (!done) return std::unexpected(done.error());
    if (ids.size() == 1) return ids.front();
    if (ids.empty())
        return failure(status::not_found, "no call that waits ends with " + shortened(ending, 80),
                       "See what waits: dormouse pending.");
    return failure(status::conflict,
                   std::string(ending) + " is the end of " + std::to_string(ids.size()) +
                       " ids:" + listed(ids),
                   "Give more of it.");
}

}  // namespace

Outcome<std::string> match(std::string_view given, std::string_view prefix,
                           std::span<std::string const> ids) {
    auto const whole =
        given.starts_with(prefix) ? std::string(given) : std::string(prefix) + std::string(given);
    std::vector<std::string> found;
    for (auto const& id : ids) {
        if (id == whole) return id;
        if (id.starts_with(whole)) found.push_back(id);
    }
    if (found.size() == 1) return found.front();
    auto const name = std::string(noun(prefix));
    if (found.empty()) {
        return failure(status::not_found, "no " + name + " begins with " + shortened(given, 80),
                       prefix == "pnd_" ? "See what waits: dormouse pending."
                                        : "See them: dormouse sessions --all.");
    }
    return failure(status::conflict,
                   std::string(given) + " is the beginning of " + std::to_string(found.size()) +
                       " ids:" + listed(found),
                   "Give more of it.");
}

namespace {

// Returns what "#3" means, or "3" if a list was shown; empty: it is something else. Fails if that
// line is of another kind (`prefix` empty: any).
Outcome<std::string> by_line(Client const& client, std::string_view given,
                             std::string_view prefix) {
    auto const number = line_number(given);
    auto const& listed = client.listed();
    bool const known = number && *number <= listed.size();
    if (!known && !given.starts_with('#')) return std::string();
    if (!known)
        return failure(status::usage,
                       std::string(given) + " is no line of the list shown last on this terminal",
                       "Show one: dormouse pending, dormouse sessions.");
    auto const& id = listed[*number - 1];
    if (id.starts_with(prefix)) return id;
    return failure(
        status::usage,
        std::string(given) + " of the list shown last is " + id + ", not a " +
            std::string(noun(prefix)),
        prefix == "pnd_" ? "See what waits: dormouse pending." : "See them: dormouse sessions.");
}

}  // namespace

namespace {

// The session that a whole id of a call, turn, message, … contains; empty: it contains none.
std::string session_of(std::string const& id) {
    constexpr std::array prefixes{"pnd_", "trn_", "msg_", "prt_", "rcp_", "art_", "tsk_"};
    constexpr std::size_t prefix = 4;
    bool const known =
        std::ranges::any_of(prefixes, [&](std::string_view one) { return id.starts_with(one); });
    if (!known || id.size() <= prefix + id_length || id[prefix + id_length] != '_') return {};
    auto const session = "ses_" + id.substr(prefix, id_length);
    return SessionId::parse(session) ? session : std::string();
}

}  // namespace

Outcome<std::string> resolve_session(Client& client, std::string const& project,
                                     std::string const& given) {
    if (auto line = by_line(client, given, "ses_"); !line || !line->empty()) return line;
    if (given.empty()) return failure(status::usage, "the session's id is empty");
    if (SessionId::parse(given)) return given;
    if (auto const session = session_of(given); !session.empty())
        return failure(status::usage,
                       given + " is not a session; it belongs to the session " + session,
                       "Name the session instead.");
    return resolve(client, "/api/projects/" + percent_encode(project) + "/sessions?limit=200",
                   given, "ses_");
}

namespace {

Outcome<std::string> call_beginning(Client& client, std::string const& project,
                                    std::string const& given) {
    auto const bare = given.starts_with("pnd_") ? given.substr(4) : given;
    auto const sessions = sessions_beginning(client, project, "ses_" + bare.substr(0, id_length));
    if (!sessions) return std::unexpected(sessions.error());
    if (sessions->size() > searched_max) {
        return failure(status::conflict,
                       given + " is the beginning of calls of " + std::to_string(sessions->size()) +
                           " sessions",
                       "Give more of it; see what waits: dormouse pending.");
    }
    std::vector<std::string> ids;
    for (auto const& session : *sessions) {
        auto const reply = client.get("/api/explain/" + percent_encode(session));
        if (!reply && reply.error().exit == status::not_found) continue;  // deleted meanwhile
        if (!reply) return std::unexpected(reply.error());
        json::View(reply->body)["calls"].elements(
            [&](json::View call) { ids.push_back(call["pendingID"].string_or("")); });
    }
    return match(given, "pnd_", ids);
}

}  // namespace

Outcome<std::string> resolve_pending(Client& client, std::string const& project,
                                     std::string const& given) {
    if (given.empty()) return failure(status::usage, "the call's id is empty");
    if (auto line = by_line(client, given, "pnd_"); !line || !line->empty()) return line;
    if (PendingId::parse(given)) return given;
    if (given.starts_with(cut_mark)) return open_call_ending(client, project, given);
    auto by_beginning = call_beginning(client, project, given);
    bool const unknown = !by_beginning && by_beginning.error().exit == status::not_found;
    if (!unknown || given.starts_with("pnd_")) return by_beginning;
    auto by_ending = open_call_ending(client, project, given);
    bool const neither = !by_ending && by_ending.error().exit == status::not_found;
    return neither ? by_beginning : by_ending;
}

Outcome<std::string> resolve_either(Client& client, std::string const& project,
                                    std::string const& given) {
    if (auto line = by_line(client, given, ""); !line || !line->empty()) return line;
    bool const call = given.starts_with("pnd_") || given.starts_with(cut_mark);
    return call ? resolve_pending(client, project, given) : resolve_session(client, project, given);
}

std::string why_stopped(Client& client, std::string const& session, std::int64_t seq) {
    constexpr std::int64_t looked_at = 200;
    auto const after = std::to_string(std::max<std::int64_t>(seq - looked_at, 0));
    auto const page = client.get("/api/sessions/" + session + "/events?limit=200&after=" + after);
    std::string why;
    if (!page) return why;
    json::View(page->body)["items"].elements([&](json::View event) {
        if (event["type"].string_or("") == "status_changed")
            why = event["data"]["why"].string_or("");
    });
    return why;
}

Outcome<std::string> resolve_any(Client& client, std::string const& project,
                                 std::string const& given) {
    auto const end = given.find('_');
    auto const prefix = given.substr(0, end == std::string::npos ? 0 : end + 1);
    bool const part_of_session = prefix == "trn_" || prefix == "msg_" || prefix == "prt_" ||
                                 prefix == "rcp_" || prefix == "art_";
    bool const of_another_kind = prefix == "tsk_" || prefix == "mail_" || prefix == "dlv_";
    // Without a known prefix it is the beginning of a session's id, which may contain '_'.
    if (!part_of_session && !of_another_kind) return resolve_either(client, project, given);
    if (!part_of_session || given.size() > prefix.size() + id_length) return given;
    return resolve_session(client, project, "ses_" + given.substr(prefix.size()));
}

}  // namespace dormouse::cli
