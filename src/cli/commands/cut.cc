// retention --messages, --older-than, --bytes: deletes the oldest turns of sessions.

#include "base/text/counted.h"
#include "cli/commands/commands.h"

#include "base/text/text.h"

#include <ostream>

namespace dormouse::cli {
namespace {

struct Gone {
    std::int64_t sessions = 0;
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
};

// Parses "10MiB", "512KiB", "1GiB", "65536"; returns nullopt for anything else.
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    std::uint64_t unit = 1;
    struct Unit {
        std::string_view name;
        std::uint64_t bytes;
    };
    for (Unit const& one :
         {Unit{"KiB", 1U << 10U}, Unit{"MiB", 1U << 20U}, Unit{"GiB", 1U << 30U}}) {
        if (!text.ends_with(one.name)) continue;
        unit = one.bytes;
        text.remove_suffix(one.name.size());
        break;
    }
    auto const number = parse_number(text);
    if (!number || *number > (std::uint64_t{1} << 50U) / unit) return std::nullopt;
    return *number * unit;
}

// The limits as the route takes them.
struct Limits {
    std::optional<Duration> age = {};
    std::optional<std::uint64_t> bytes = {};
};

Outcome<Limits> read_limits(RetentionArgs const& args) {
    Limits limits;
    if (!args.older_than.empty()) {
        limits.age = parse_duration(args.older_than);
        if (!limits.age)
            return failure(status::usage, "--older-than is not a time: " + args.older_than,
                           "A number and ms, s, m, h or d: 12h, 30d.");
    }
    if (!args.bytes.empty()) {
        limits.bytes = parse_bytes(args.bytes);
        if (!limits.bytes)
            return failure(status::usage, "--bytes is not a size: " + args.bytes,
                           "A number of bytes, or with KiB, MiB or GiB: 512KiB, 10MiB.");
    }
    return limits;
}

Json cut_body(RetentionArgs const& args, Limits const& limits, std::string const& after) {
    json::Writer body;
    body.begin_object().member("dryRun", args.dry_run);
    if (args.messages > 0) body.member("messagesPerSession", args.messages);
    if (limits.age) body.member("messageAgeMs", limits.age->count());
    if (limits.bytes) body.member("sessionBytes", *limits.bytes);
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

}  // namespace

// Works through the sessions page by page.
Outcome<int> cut_messages(Context const& context, RetentionArgs const& args) {
    auto const limits = read_limits(args);
    if (!limits) return std::unexpected(limits.error());
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    Gone all;
    for (std::string after;;) {
        auto const reply = client->post("/api/retention/messages", cut_body(args, *limits, after));
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
                << (args.dry_run ? " would be deleted, " : " were deleted, ")
                << counted(all.bytes, "byte") << "\n";
    return status::done;
}

}  // namespace dormouse::cli
