// redact: removes the content of one message or call.

#include "cli/client/resolve.h"
#include "cli/commands/commands.h"
#include "cli/commands/pick.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::cli {
namespace {

Json redaction_body(RedactArgs const& args, bool dry_run) {
    std::string_view const kind = args.what.starts_with("msg_")   ? "messageID"
                                  : args.what.starts_with("pnd_") ? "pendingID"
                                                                  : "callID";
    json::Writer body;
    body.begin_object().member(kind, args.what).member("dryRun", dry_run);
    if (!args.reason.empty()) body.member("reason", args.reason);
    return body.end_object().json();
}

std::string count_of(json::View report, std::string_view name, std::string const& what) {
    std::int64_t const count = report[name].integer_or(0);
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string removed_text(json::View report) {
    std::string out = count_of(report, "events", "event") + " with " +
                      count_of(report, "bytes", "byte") + ", " +
                      count_of(report, "artifacts", "artifact") + ", ";
    std::int64_t const sent = report["deliveries"].integer_or(0);
    return out + std::to_string(sent) + (sent == 1 ? " delivery" : " deliveries");
}

void show_removed(Context const& context, Json const& reply) {
    json::View const report(reply);
    bool const done = report["seq"].integer_or(0) > 0;
    context.show(reply, (done ? "removed: " : "would be removed: ") + removed_text(report) + "\n");
}

// Shows what would be removed, and asks whether it is.
Outcome<bool> confirm_removal(Context const& context, Client& client, std::string const& path,
                              RedactArgs const& args) {
    if (!context.may_ask)
        return failure(status::usage, "redact asks for confirmation, but there is no terminal",
                       "To remove without confirmation: --yes.");
    auto const reply = client.post(path, redaction_body(args, true));
    if (!reply) return std::unexpected(reply.error());
    show_removed(context, reply->body);
    return confirmed(context, "Remove this for good?");
}

}  // namespace

Outcome<int> execute(Context const& context, RedactArgs const& args) {
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    std::string const path = "/api/sessions/" + id + "/redactions";
    if (!args.dry_run && !args.yes) {
        auto const yes = confirm_removal(context, client, path, args);
        if (!yes) return std::unexpected(yes.error());
        if (!*yes) return failure(status::failed, "not removed");
    }
    auto const reply = client.post(path, redaction_body(args, args.dry_run), Keyed::yes);
    if (!reply) return std::unexpected(reply.error());
    show_removed(context, reply->body);
    return status::done;
}

}  // namespace dormouse::cli
