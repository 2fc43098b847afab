// Commands that change nothing: sessions, show, tail, timeline, pending, agents, tools, explain,
// artifact, doctor.

#include "base/text/counted.h"
#include "base/url.h"
#include "cli/client/interrupts.h"
#include "cli/client/resolve.h"
#include "cli/client/saved/known_agents.h"
#include "cli/commands/commands.h"
#include "cli/commands/pick.h"
#include "cli/render/story.h"
#include "cli/render/timeline.h"

#include "base/text/text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <ostream>
#include <ranges>

namespace dormouse::cli {
namespace {

// Prints the pages of `target` until the list ends, or only the first unless `all`.
Outcome<int> print_pages(Context const& context, Client& client, std::string const& target,
                         bool all, std::function<std::string(json::View items)> const& text) {
    std::string cursor;
    auto const more = (target.find('?') == std::string::npos ? "?cursor=" : "&cursor=");
    do {
        auto const page =
            client.get(target + (cursor.empty() ? "" : more + percent_encode(cursor)));
        if (!page) return std::unexpected(page.error());
        json::View const body(page->body);
        cursor = body["next"].string_or("");
        context.show(page->body, text(body["items"]));
    } while (all && !cursor.empty());
    if (!cursor.empty() && !context.global.json) context.out << "there are more: --all\n";
    return status::done;
}

Outcome<int> print_messages(Context const& context, Client& client, std::string const& session) {
    return print_pages(context, client, "/api/sessions/" + session + "/messages?limit=200", true,
                       [&](json::View items) {
                           std::string out;
                           items.elements([&](json::View message) {
                               out += "\n" + message_text(message, context.style);
                           });
                           return out;
                       });
}

void print_event(Context const& context, SseEvent const& event) {
    auto const checked = json::check(event.data);
    // Frames such as delta are no events: they have no seq.
    if (!checked || !json::View(*checked)["seq"].exists()) return;
    context.show(*checked, event_line(json::View(*checked), context.columns, context.style));
}

// Names the sessions that continue only on a server that does not run.
std::string gone_servers_text(Client& client, json::View sessions) {
    std::map<std::string, std::string> waiting;
    sessions.elements([&](json::View one) {
        auto const node = one["node"].string();
        if (node) waiting[*node] += " " + escape_for_terminal(one["id"].string_or(""));
    });
    if (waiting.empty()) return {};
    auto const nodes = client.get("/api/nodes");
    if (!nodes) return {};  // this token may not read them
    json::View(nodes->body)["items"].elements(
        [&](json::View node) { waiting.erase(node["name"].string_or("")); });
    std::string out;
    for (auto const& [node, ids] : waiting)
        out += "the server " + escape_for_terminal(node) +
               " does not run; only there continue:" + ids +
               "\n  start it, or: dormouse move SESSION --to NODE\n";
    return out;
}

std::string stopped_line(std::string const& why) {
    return why.empty() ? why : "because   " + escape_for_terminal(why) + "\n";
}

}  // namespace

Outcome<int> stored_events(Client& client, std::string const& target, std::uint64_t after,
                           std::function<void(json::View event)> const& each) {
    for (;;) {
        auto const page = client.get(target + "?limit=200&after=" + std::to_string(after));
        if (!page) return std::unexpected(page.error());
        auto const items = json::View(page->body)["items"];
        items.elements([&](json::View event) {
            each(event);
            after = static_cast<std::uint64_t>(event["seq"].integer_or(0));
        });
        if (items.size() == 0 || json::View(page->body)["next"].is_null()) return status::done;
    }
}

Outcome<int> execute(Context const& context, SessionsArgs const& args) {
    if (!args.archive.empty()) return list_archived(context, args);
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const target = "/api/projects/" + percent_encode(context.global.project) +
                        "/sessions?limit=" + std::to_string(args.all ? 200 : args.limit);
    std::vector<std::string> ids;
    auto const printed = print_pages(context, *client, target, args.all, [&](json::View items) {
        auto const first = context.first_line(ids);
        items.elements([&](json::View one) { ids.push_back(one["id"].string_or("")); });
        return sessions_table(items, context.now(), context.style, context.columns, first) +
               (context.global.json ? "" : gone_servers_text(*client, items));
    });
    context.remember(ids);
    return printed;
}

namespace {

// Returns the list to read, without its filters.
Outcome<std::string> pending_target(Context const& context, Client& client,
                                    PendingArgs const& args) {
    auto const target = "/async-tool/pending?limit=" + std::to_string(args.limit);
    if (args.session.empty()) return target + "&project=" + percent_encode(context.global.project);
    auto const session = resolve_session(client, context.global.project, args.session);
    if (!session) return std::unexpected(session.error());
    return target + "&sessionID=" + *session;
}

// Timers complete by themselves and are shown only on request.
bool is_shown(PendingArgs const& args, json::View call) {
    auto const word = reason_word(call);
    if (args.reason.empty()) return word != "timer" || !args.status.empty();
    if (args.reason == "in_doubt") return word == "in doubt";
    return word == args.reason;
}

// No call of this tool waits: names the tools of other open calls.
Outcome<int> nothing_waits(Context const& context, Client& client, std::string const& target,
                           std::string const& tool) {
    auto const others = client.get(target);
    if (!others) return std::unexpected(others.error());
    json::View const body(others->body);
    if (body["items"].size() == 0) {
        context.out << "nothing waits\n";
        return status::done;
    }
    auto const count = std::to_string(body["items"].size()) + (body["next"].is_null() ? "" : "+");
    context.out << "nothing waits for " << escape_for_terminal(tool) << " (" << count
                << (count == "1" ? " other call waits)\n" : " other calls wait)\n");
    return status::done;
}

void print_pending(Context const& context, PendingArgs const& args, json::View page) {
    std::string items = "[";
    std::size_t timers = 0;
    std::vector<std::string> ids;
    page["items"].elements([&](json::View call) {
        if (is_shown(args, call)) {
            ids.push_back(call["id"].string_or(""));
            items += (items.size() > 1 ? "," : "") + std::string(call.raw());
        } else if (args.reason.empty()) {
            ++timers;
        }
    });
    items += "]";
    context.out << pending_table(json::View(items), context.now(), context.style, context.columns,
                                 context.first_line());
    context.remember(ids);
    if (timers > 0)
        context.out << timers << (timers == 1 ? " timer is" : " timers are")
                    << " not shown: dormouse pending --reason timer\n";
    if (!page["next"].is_null()) context.out << "there are more: --limit N\n";
}

}  // namespace

Outcome<int> execute(Context const& context, PendingArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const all = pending_target(context, *client, args);
    if (!all) return std::unexpected(all.error());
    auto target = *all;
    if (!args.tool.empty()) target += "&tool=" + percent_encode(args.tool);
    if (!args.status.empty()) target += "&status=" + percent_encode(args.status);
    auto const page = client->get(target);
    if (!page) return std::unexpected(page.error());
    json::View const body(page->body);
    if (context.global.json) {
        context.show(page->body, "");
        return status::done;
    }
    if (!args.tool.empty() && args.status.empty() && body["items"].size() == 0)
        return nothing_waits(context, *client, *all, args.tool);
    print_pending(context, args, body);
    return status::done;
}

namespace {

// Breaks `text` into lines of at most `columns` (0: one line); never inside a word.
std::string wrapped(std::string_view text, std::size_t columns) {
    std::string out;
    std::size_t line = 0;
    for (auto const word : std::views::split(text, ' ')) {
        std::string_view const piece(word.begin(), word.end());
        bool const first = out.empty();
        bool const breaks = !first && columns > 0 && line + 1 + piece.size() > columns;
        out += first ? "" : breaks ? "\n  " : " ";
        line = breaks ? 2 + piece.size() : line + (first ? 0 : 1) + piece.size();
        out += piece;
    }
    return out + "\n";
}

// Names the known agents that the server does not offer because their programs are not installed.
std::string not_installed(json::View items, std::size_t columns) {
    std::string out;
    for (KnownAgent const& agent : known_agents) {
        bool found = false;
        items.elements(
            [&](json::View item) { found = found || item["id"].string_or("") == agent.id; });
        if (!found)
            out += wrapped(
                "not installed: " + std::string(agent.id) + " (" + std::string(agent.install) + ")",
                columns);
    }
    return out;
}

}  // namespace

Outcome<int> execute(Context const& context, AgentsArgs const&) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    return print_pages(context, *client, "/api/agents", true, [&](json::View items) {
        return agents_table(items, context.style, context.columns) +
               not_installed(items, context.columns);
    });
}

Outcome<int> execute(Context const& context, ToolsArgs const&) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    return print_pages(context, *client, "/api/tools", true, [&](json::View items) {
        return tools_table(items, context.style, context.columns);
    });
}

Outcome<int> execute(Context const& context, ShowArgs const& args) {
    if (!args.archive.empty()) return show_archived(context, args);
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const id = args.id.empty() ? pick_session(context, *client)
                                    : resolve_either(*client, context.global.project, args.id);
    if (!id) return std::unexpected(id.error());
    bool const pending = id->starts_with("pnd_");
    auto const reply = client->get((pending ? "/async-tool/pending/" : "/api/sessions/") + *id);
    if (!reply) return std::unexpected(reply.error());
    json::View const body(reply->body);
    if (pending) {
        context.show(reply->body, pending_text(body, context.now(), context.style));
        return status::done;
    }
    auto text = session_text(body, context.now(), context.style);
    auto const state = body["status"].string_or("");
    if (!context.global.json && (state == "error" || state == "paused"))
        text += stopped_line(why_stopped(*client, *id, body["seq"].integer_or(0)));
    context.show(reply->body, text);
    return print_messages(context, *client, *id);
}

Outcome<int> execute(Context const& context, TailArgs const& args) {
    Interrupts const interrupts;
    auto client = context.connect(interrupts.fd());
    if (!client) return std::unexpected(client.error());
    auto const session = args.session.empty()
                             ? pick_session(context, *client)
                             : resolve_session(*client, context.global.project, args.session);
    if (!session) return std::unexpected(session.error());
    auto const target = "/api/sessions/" + *session + "/events";
    if (args.no_follow)
        return stored_events(*client, target, args.after, [&](json::View event) {
            context.show(event.copy(), event_line(event, context.columns, context.style));
        });
    auto const after = args.after == 0 ? std::string() : std::to_string(args.after);
    auto const read = client->events(target, after, [&](SseEvent const& event) {
        print_event(context, event);
        return Client::Stream::go_on;
    });
    if (!read && read.error().exit == status::interrupted) {
        if (context.may_ask) context.err << '\n';  // ends the line of the terminal's ^C
        return status::interrupted;
    }
    if (!read) return std::unexpected(read.error());
    return status::done;
}

Outcome<int> execute(Context const& context, TimelineArgs const& args) {
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    auto const target = "/api/sessions/" + id;
    auto const session = client.get(target);
    if (!session) return std::unexpected(session.error());
    json::View const body(session->body);
    TimelineFold fold;
    if (auto const starts = client.get("/api/starts"))
        json::View(starts->body)["items"].elements([&](json::View one) { fold.start(one); });
    auto const after = static_cast<std::uint64_t>(body["historyAfter"].integer_or(0));
    auto const read = stored_events(client, target + "/events", after,
                                    [&](json::View event) { fold.add(event); });
    if (!read) return std::unexpected(read.error());
    auto const line = fold.done(to_ms(context.now()));
    auto const title = body["title"].string_or("");
    constexpr std::size_t columns = 80;
    context.show(timeline_json(line),
                 timeline_text(line, title.empty() ? id : title,
                               context.columns == 0 ? columns : context.columns, context.style));
    return status::done;
}

Outcome<int> execute(Context const& context, ExplainArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const id = args.id.empty() ? pick_session(context, *client)
                                    : resolve_any(*client, context.global.project, args.id);
    if (!id) return std::unexpected(id.error());
    auto const reply = client->get("/api/explain/" + percent_encode(*id));
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, explain_text(json::View(reply->body), context.now(), context.style));
    return status::done;
}

namespace {

// A terminal gets only text, without control characters.
Outcome<int> print_bytes(Context const& context, std::string const& bytes) {
    if (context.columns == 0) {
        context.out << bytes;
        return status::done;
    }
    if (!valid_utf8(bytes) || bytes.contains('\0'))
        return failure(status::usage, "this is not text", "Write it to a file: -o FILE.");
    context.out << escape_for_terminal(bytes, true);
    if (!bytes.ends_with('\n')) context.out << "\n";
    return status::done;
}

// Without an id a person chooses a session, and one of its artifacts.
Outcome<std::string> artifact_of(Context const& context, Client& client, std::string const& given) {
    if (!given.empty()) return given;
    if (!context.may_ask)
        return failure(status::usage, "name an artifact: there is no terminal to choose one on",
                       "Name it; the messages of its session do: dormouse show SESSION.");
    auto const session = pick_session(context, client);
    if (!session) return session;
    return pick_artifact(context, client, *session);
}

}  // namespace

Outcome<int> execute(Context const& context, ArtifactArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const id = artifact_of(context, *client, args.id);
    if (!id) return std::unexpected(id.error());
    auto const bytes = client->bytes("/api/artifacts/" + percent_encode(*id));
    if (!bytes) return std::unexpected(bytes.error());
    if (args.file.empty()) return print_bytes(context, *bytes);
    std::ofstream file(args.file, std::ios::binary | std::ios::trunc);
    file << *bytes;
    file.close();
    if (file) return status::done;
    return failure(status::failed, "cannot write " + args.file + ": " + std::strerror(errno));
}

namespace {

// Reads every page and returns how many sessions have a problem.
Outcome<std::size_t> read_all(Context const& context, Client& client, bool dry_run) {
    std::string cursor;
    std::size_t wrong = 0;
    std::int64_t sessions = 0;
    do {
        json::Writer body;
        body.begin_object().member("dryRun", dry_run);
        if (!cursor.empty()) body.member("cursor", cursor);
        auto const page = client.post("/api/doctor/repair", body.end_object().json());
        if (!page) return std::unexpected(page.error());
        json::View const report(page->body);
        sessions += report["sessions"].integer_or(0);
        report["found"].elements([&](json::View one) {
            if (!one["repaired"].boolean_or(false)) ++wrong;
        });
        cursor = report["next"].string_or("");
        context.show(page->body, repair_text(report, context.style));
    } while (!cursor.empty());
    if (!context.global.json)
        context.out << "looked at " << counted(sessions, "session") << ": "
                    << (wrong == 0 ? "all agree with their journals"
                                   : std::to_string(wrong) + " do not agree with their journals")
                    << "\n";
    return wrong;
}

}  // namespace

namespace {

// Lists the newest sessions whose last turn failed. That is no damage: a person decides what to do.
// Empty when the list cannot be read: the report is complete without it.
std::string failed_turns(Context const& context, Client& client) {
    auto const page = client.get("/api/projects/" + percent_encode(context.global.project) +
                                 "/sessions?limit=200");
    if (!page) return {};
    constexpr std::size_t shown_max = 10;
    std::size_t count = 0;
    std::string out;
    json::View(page->body)["items"].elements([&](json::View session) {
        bool const idle = session["activity"]["type"].string_or("") == "idle";
        auto const last = session["lastTurn"];
        if (!idle || !last["failed"].boolean_or(false) || ++count > shown_max) return;
        auto const id = escape_for_terminal(plain(session["id"]));
        out += "  " + id + ": " + escape_for_terminal(plain(last["error"]["message"])) +
               "\n    next: dormouse retry " + id + "\n";
    });
    if (count == 0) return out;
    if (count > shown_max) out += "  and " + std::to_string(count - shown_max) + " more\n";
    auto const head = std::to_string(count) + (count == 1 ? " failed turn" : " failed turns");
    return context.style(Paint::yellow, head) + "\n" + out;
}

}  // namespace

Outcome<int> execute(Context const& context, DoctorArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    std::optional<bool> before;
    std::string unread;
    for (std::string path = "/api/doctor"; !path.empty();) {
        auto const reply = client->get(path);
        if (!reply) return std::unexpected(reply.error());
        json::View const report(reply->body);
        context.show(reply->body, doctor_text(report, context.now(), context.style, before));
        before = before.value_or(true) && report["ok"].boolean_or(false);
        auto const next = report["next"].string_or("");
        path = next.empty() || !args.all ? "" : "/api/doctor?cursor=" + percent_encode(next);
        unread = cut_text(report, context.style);
    }
    if (!context.global.json) context.out << unread;
    if (!context.global.json) context.out << failed_turns(context, *client);
    auto const found = args.check || args.repair ? read_all(context, *client, !args.repair)
                                                 : Outcome<std::size_t>(0);
    if (!found) return std::unexpected(found.error());
    bool const well = *before && *found == 0;
    return well ? status::done : status::failed;
}

}  // namespace dormouse::cli
