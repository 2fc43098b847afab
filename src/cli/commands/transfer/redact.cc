// redact: removes the content of messages, calls, mail, tasks and turns, and what was set of a
// session.

#include "base/text/counted.h"
#include "base/text/text.h"
#include "cli/client/resolve.h"
#include "cli/commands/commands.h"
#include "cli/commands/pick.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::cli {
namespace {

// One thing that is to be removed.
struct Thing {
    std::string_view member;  // of the request
    std::string value = {};   // empty: true
};

// The member of the request for an id; empty: nothing with such an id can be removed.
std::string_view kind_of(std::string_view id) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kinds{
        {{"msg_", "messageID"},
         {"pnd_", "pendingID"},
         {"mail_", "mailID"},
         {"trn_", "turnID"},
         {"prt_", "partID"},
         {"tsk_", "taskID"},
         {"call_", "callID"}}};
    for (auto const& [prefix, member] : kinds)
        if (id.starts_with(prefix)) return member;
    return {};
}

// Finds what names nothing before the server is asked.
Outcome<void> check_names(RedactArgs const& args) {
    for (std::string const& id : args.what)
        if (kind_of(id).empty())
            return failure(status::usage,
                           "'" + escape_for_terminal(id) + "' is no id of what redact removes",
                           "Give the id of a message (msg_), call (call_, pnd_), part (prt_), mail "
                           "(mail_), task (tsk_) or turn (trn_): dormouse show SESSION --json.");
    for (std::string const& key : args.labels)
        if (key.empty())
            return failure(status::usage, "--label must not be empty",
                           "Name the key of the label; --labels removes all of them.");
    return {};
}

// Normalizes the arguments: if the session was omitted, the first id names what to remove.
Outcome<RedactArgs> complete(Context const& context, RedactArgs args) {
    if (!kind_of(args.session).empty())
        args.what.insert(args.what.begin(), std::exchange(args.session, {}));
    if (auto const checked = check_names(args); !checked) return std::unexpected(checked.error());
    bool const named =
        !args.what.empty() || args.title || args.alias || args.all_labels || !args.labels.empty();
    if (named || context.may_ask) return args;
    return failure(status::usage, "redact: name what to remove",
                   "Give ids, or --title, --alias, --labels or --label KEY.");
}

std::vector<Thing> things_of(RedactArgs const& args) {
    std::vector<Thing> out;
    for (std::string const& id : args.what) out.push_back({kind_of(id), id});
    if (args.title) out.push_back({"title"});
    if (args.alias) out.push_back({"alias"});
    if (args.all_labels) out.push_back({"labels"});
    for (std::string const& key : args.labels) out.push_back({"label", key});
    return out;
}

Json redaction_body(RedactArgs const& args, Thing const& thing, bool dry_run) {
    json::Writer body;
    body.begin_object().member("dryRun", dry_run);
    if (thing.value.empty()) body.member(thing.member, true);
    if (!thing.value.empty()) body.member(thing.member, thing.value);
    if (!args.reason.empty()) body.member("reason", args.reason);
    if (args.forks) body.member("forks", true);
    return body.end_object().json();
}

std::string count_of(json::View report, std::string_view name, std::string const& what) {
    return counted(report[name].integer_or(0), what);
}

std::string removed_text(json::View report) {
    std::string out = count_of(report, "events", "event") + " with " +
                      count_of(report, "bytes", "byte") + ", " +
                      count_of(report, "artifacts", "artifact") + ", ";
    std::int64_t const sent = report["deliveries"].integer_or(0);
    return out + std::to_string(sent) + (sent == 1 ? " delivery" : " deliveries");
}

// Other sessions, and whether it is removed there.
std::string copies_text(json::View report, bool forks) {
    std::string out;
    report["copies"].elements([&](json::View copy) {
        bool const stays = copy["why"].string_or("") == "fork" && !forks;
        bool const removed = copy["seq"].integer_or(0) > 0;
        std::string const what = removed ? "removed there, too"
                                 : stays ? "still there; --forks removes it"
                                         : "would be removed there, too";
        out += "  " + copy["why"].string_or("") + " " + copy["sessionID"].string_or("") + " " +
               copy["item"].string_or("") + ": " + what + "\n";
    });
    return out;
}

void show_removed(Context const& context, RedactArgs const& args, Json const& reply) {
    json::View const report(reply);
    bool const done = report["seq"].integer_or(0) > 0;
    std::string const head = done ? "removed: " : "would be removed: ";
    context.show(reply, head + removed_text(report) + "\n" + copies_text(report, args.forks));
}

// Finds what cannot be removed before anything is.
Outcome<void> check_all(Client& client, std::string const& path, RedactArgs const& args) {
    for (Thing const& thing : things_of(args)) {
        auto const reply = client.post(path, redaction_body(args, thing, true));
        if (!reply) return std::unexpected(reply.error());
    }
    return {};
}

Outcome<void> redact_all(Context const& context, Client& client, std::string const& path,
                         RedactArgs const& args, bool dry_run) {
    for (Thing const& thing : things_of(args)) {
        auto const reply = client.post(path, redaction_body(args, thing, dry_run),
                                       dry_run ? Keyed::no : Keyed::yes);
        if (!reply) return std::unexpected(reply.error());
        show_removed(context, args, reply->body);
    }
    return {};
}

// Shows what would be removed, and asks whether it is.
Outcome<bool> confirm_removal(Context const& context, Client& client, std::string const& path,
                              RedactArgs const& args) {
    if (!context.may_ask)
        return failure(status::usage, "redact asks for confirmation, but there is no terminal",
                       "To remove without confirmation: --yes.");
    auto const shown = redact_all(context, client, path, args, true);
    if (!shown) return std::unexpected(shown.error());
    return confirmed(context, "Remove this for good?");
}

// Other sessions that have it. A server or another file may hold those that are no forks.
std::string elsewhere_text(json::View report, bool dry_run) {
    std::string out;
    report["copies"].elements([&](json::View copy) {
        std::string const why = copy["why"].string_or("");
        std::string const what = why != "fork" ? "still there"
                                 : dry_run     ? "would be removed there, too"
                                               : "removed there, too";
        out += "  " + why + " " + copy["sessionID"].string_or("") + " " +
               copy["item"].string_or("") + ": " + what + "\n";
    });
    return out;
}

Outcome<int> redact_files(Context const& context, RedactArgs const& args, bool dry_run) {
    ArchiveRedaction options{.place = {args.archive, args.key_env},
                             .session = args.session,
                             .dry_run = dry_run,
                             .forks = args.forks};
    for (Thing const& thing : things_of(args))
        options.requests.emplace_back(redaction_body(args, thing, dry_run).text());
    auto const reports = context.programs.archives.redact(options);
    if (!reports) return failure(status::failed, reports.error());
    for (std::string const& text : *reports) {
        auto const checked = json::check(text);
        if (!checked) return failure(status::failed, checked.error().detail);
        json::View const report(*checked);
        std::string const head = dry_run ? "would be removed: " : "removed: ";
        context.show(*checked,
                     head + removed_text(report) + "\n" + elsewhere_text(report, dry_run));
    }
    return status::done;
}

// Shows what would be removed from the files, and asks whether it is.
Outcome<int> redact_in_archive(Context const& context, RedactArgs const& args) {
    if (args.session.empty() || things_of(args).empty())
        return failure(status::usage, "redact --archive needs a session and what to remove from it",
                       "Give ids, or --title, --alias, --labels or --label KEY.");
    if (args.dry_run || args.yes) return redact_files(context, args, args.dry_run);
    if (!context.may_ask)
        return failure(status::usage, "redact asks for confirmation, but there is no terminal",
                       "To remove without confirmation: --yes.");
    auto const shown = redact_files(context, args, true);
    if (!shown) return shown;
    if (!confirmed(context, "Remove this for good?")) return failure(status::failed, "not removed");
    return redact_files(context, args, false);
}

}  // namespace

Outcome<int> execute(Context const& context, RedactArgs const& given) {
    auto made = complete(context, given);
    if (!made) return std::unexpected(made.error());
    RedactArgs& args = *made;
    if (!args.archive.empty()) return redact_in_archive(context, args);
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    if (things_of(args).empty()) {
        auto message = pick_message(context, client, id);
        if (!message) return std::unexpected(message.error());
        args.what.push_back(*std::move(message));
    }
    auto const things = things_of(args);
    std::string const path = "/api/sessions/" + id + "/redactions";
    if (!args.dry_run && !args.yes) {
        auto const yes = confirm_removal(context, client, path, args);
        if (!yes) return std::unexpected(yes.error());
        if (!*yes) return failure(status::failed, "not removed");
    }
    if (!args.dry_run && things.size() > 1) {
        auto const checked = check_all(client, path, args);
        if (!checked) return std::unexpected(checked.error());
    }
    auto const done = redact_all(context, client, path, args, args.dry_run);
    if (!done) return std::unexpected(done.error());
    return status::done;
}

}  // namespace dormouse::cli
