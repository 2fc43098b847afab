// dormouse retention --messages: the oldest messages of sessions that have too many.

#include "cli/commands.h"

#include "base/text.h"

#include <ostream>

namespace dormouse::cli {
namespace {

struct Gone {
    std::int64_t sessions = 0;
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
};

Json cut_body(RetentionArgs const& args, std::string const& after) {
    json::Writer body;
    body.begin_object().member("dryRun", args.dry_run);
    body.member("messagesPerSession", args.messages);
    if (!args.session.empty()) body.member("sessionID", args.session);
    if (!after.empty()) body.member("after", after);
    return body.end_object().json();
}

void show_cuts(Context const& context, json::View report) {
    std::string text;
    report["found"].elements([&](json::View one) {
        text += escape_for_terminal(one["sessionID"].string_or("")) + "  " +
                std::to_string(one["messages"].integer_or(0)) + " messages  " +
                std::to_string(one["bytes"].integer_or(0)) + " bytes\n";
    });
    context.show(Json::trusted(std::string(report.raw())), text);
}

std::string counted(std::int64_t count, std::string const& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

// A page of sessions at a time.
Outcome<int> cut_messages(Context const& context, RetentionArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    Gone all;
    for (std::string after;;) {
        auto const reply = client->post("/api/retention/messages", cut_body(args, after));
        if (!reply) return std::unexpected(reply.error());
        json::View const report(reply->body);
        show_cuts(context, report);
        all.sessions += report["sessions"].integer_or(0);
        all.messages += report["messages"].integer_or(0);
        all.bytes += report["bytes"].integer_or(0);
        after = report["next"].string_or("");
        if (after.empty()) break;
    }
    if (context.global.json) return status::done;
    context.out << counted(all.messages, "message") << " of " << counted(all.sessions, "session")
                << (args.dry_run ? " would go, " : " are gone, ") << counted(all.bytes, "byte")
                << "\n";
    return status::done;
}

}  // namespace dormouse::cli
