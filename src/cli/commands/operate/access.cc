// Administration commands: token, link, retention.

#include "cli/commands/commands.h"

#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/url.h"
#include "cli/render/qr.h"

#include <ostream>
#include <utility>

namespace dormouse::cli {
namespace {

void write_names(json::Writer& body, std::string_view key, std::vector<std::string> const& names) {
    if (names.empty()) return;
    body.key(key).begin_array();
    for (std::string const& name : names) body.value(name);
    body.end_array();
}

Outcome<Json> access_body(AccessArgs const& args) {
    json::Writer body;
    body.begin_object().member("name", args.name).member("role", args.role);
    write_names(body, "projects", args.projects);
    write_names(body, "agents", args.agents);
    if (!args.ttl.empty()) {
        auto const ttl = parse_duration(args.ttl);
        if (!ttl) {
            return failure(status::usage, "--ttl is not a time: " + args.ttl,
                           "A number and ms, s, m, h or d: 10m, 90d.");
        }
        body.member("ttlMs", ttl->count());
    }
    return body.end_object().json();
}

Outcome<int> create_token(Context const& context, Client& client, AccessArgs const& args) {
    auto const body = access_body(args);
    if (!body) return std::unexpected(body.error());
    auto const reply = client.post("/api/tokens", *body);
    if (!reply) return std::unexpected(reply.error());
    json::View const made(reply->body);
    // Standard output gets only the secret, for scripts.
    if (!context.global.json) {
        context.err << "Token " << made["token"]["id"].string_or("") << " for "
                    << escape_for_terminal(args.name) << ", role " << args.role
                    << ". It is shown this once:\n"
                    << std::flush;
    }
    context.show(reply->body, made["secret"].string_or("") + "\n");
    if (!context.out) {
        return failure(status::failed, "the token was made, and its secret cannot be printed",
                       "Revoke it: dormouse token revoke " +
                           shell_word(made["token"]["id"].string_or("")) + context.flags());
    }
    return status::done;
}

std::string names_in_words(json::View names, std::string_view none) {
    std::string out;
    names.elements([&](json::View name) { out += (out.empty() ? "" : " ") + name.string_or(""); });
    return out.empty() ? std::string(none) : out;
}

Outcome<int> list_tokens(Context const& context, Client& client) {
    auto const reply = client.get("/api/tokens");
    if (!reply) return std::unexpected(reply.error());
    Table table({{"ID", Narrow::id},
                 "KIND",
                 {"NAME", Narrow::words},
                 "ROLE",
                 {"PROJECTS", Narrow::words},
                 {"AGENTS", Narrow::words},
                 "EXPIRES"});
    json::View(reply->body)["items"].elements([&](json::View one) {
        table.add({one["id"].string_or(""), one["kind"].string_or(""), one["name"].string_or(""),
                   one["role"].string_or(""), names_in_words(one["projects"], "all"),
                   names_in_words(one["agents"], "-"),
                   ahead(one["time"]["expires"].integer_or(0), context.now())});
    });
    context.show(reply->body, table.text(context.style, context.columns));
    return status::done;
}

// Revokes the token with this id, or all tokens, links and cookies with this name.
Outcome<int> revoke_token(Context const& context, Client& client, std::string const& which) {
    auto const listed = client.get("/api/tokens");
    if (!listed) return std::unexpected(listed.error());
    std::vector<std::string> ids;
    json::View(listed->body)["items"].elements([&](json::View one) {
        if (one["id"].string_or("") == which || one["name"].string_or("") == which)
            ids.push_back(one["id"].string_or(""));
    });
    if (ids.empty())
        return failure(status::not_found, "no token has this id or name: " + which,
                       "See: dormouse token list");
    for (std::string const& id : ids) {
        auto const reply = client.remove("/api/tokens/" + percent_encode(id));
        if (!reply) return std::unexpected(reply.error());
        if (!context.global.json) context.out << "revoked " << escape_for_terminal(id) << '\n';
    }
    return status::done;
}

// Whether only this machine can open the link, which may have a fragment.
bool is_loopback_link(std::string_view url) {
    auto const parsed = dormouse::parse_url(url.substr(0, url.find('#')));
    return parsed && parsed->is_loopback();
}

}  // namespace

Outcome<int> execute(Context const& context, TokenArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    if (args.what == "list") return list_tokens(context, *client);
    if (args.access.name.empty())
        return failure(status::usage, "token " + args.what + " needs a name",
                       "Try: dormouse token " + args.what + " alice");
    if (args.what == "revoke") return revoke_token(context, *client, args.access.name);
    return create_token(context, *client, args.access);
}

Outcome<int> execute(Context const& context, LinkArgs const& args) {
    auto const body = access_body(args.access);
    if (!body) return std::unexpected(body.error());
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const reply = client->post("/api/links", *body);
    if (!reply) return std::unexpected(reply.error());
    if (!context.global.json)
        context.err << "Works once; it expires "
                    << ahead(json::View(reply->body)["expires"].integer_or(0), context.now())
                    << ":\n"
                    << std::flush;
    std::string const url = json::View(reply->body)["url"].string_or("");
    if (args.qr) {
        context.err << qr_code(url);
        if (is_loopback_link(url))
            context.err << "Another device cannot open this address. Set public_url of [server] "
                           "to one that it can reach.\n";
        context.err << std::flush;
    }
    context.show(reply->body, url + "\n");
    return status::done;
}

namespace {

struct Swept {
    std::int64_t sessions = 0;
    std::int64_t bytes = 0;
    std::int64_t deleted = 0;
    std::int64_t lines = 0;
    std::int64_t deliveries = 0;
    bool more = false;
};

void show_found(Context const& context, json::View report, bool dry_run) {
    std::string text;
    if (dry_run) {
        report["found"].elements([&](json::View one) {
            text += escape_for_terminal(one["sessionID"].string_or("")) + "  " +
                    escape_for_terminal(one["projectID"].string_or("")) + "  " +
                    std::to_string(one["bytes"].integer_or(0)) + " bytes\n";
        });
    }
    context.show(Json::trusted(std::string(report.raw())), text);
}

// Replaces the names of request members with those of the flags.
Failure in_flags(Failure failure) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"completedAfterMs", "--completed-after"},
        {"auditAfterMs", "--audit-after"},
        {"deadDeliveriesAfterMs", "--dead-deliveries-after"}};
    for (auto const& [member, flag] : names) {
        for (auto at = failure.what.find(member); at != std::string::npos;
             at = failure.what.find(member))
            failure.what.replace(at, member.size(), flag);
    }
    return failure;
}

// Deletes up to a thousand at a time until none is left.
Outcome<Swept> sweep(Context const& context, Client& client, Json const& body, bool dry_run) {
    Swept all;
    for (;;) {
        auto const reply = client.post("/api/retention", body);
        if (!reply) return std::unexpected(in_flags(reply.error()));
        json::View const report(reply->body);
        show_found(context, report, dry_run);
        json::View const audit = report["audit"];
        json::View const deliveries = report["deliveries"];
        std::int64_t const deleted = report["deleted"].integer_or(0);
        std::int64_t const lines = audit["lines"].integer_or(0);
        std::int64_t const count = deliveries["count"].integer_or(0);
        all.sessions += report["sessions"].integer_or(0);
        all.bytes += report["bytes"].integer_or(0);
        all.deleted += deleted;
        all.lines += lines;
        all.deliveries += count;
        all.more = report["more"].boolean_or(false) || audit["more"].boolean_or(false) ||
                   deliveries["more"].boolean_or(false);
        if (dry_run || !all.more || deleted + lines + count == 0) return all;
    }
}

}  // namespace

Outcome<int> execute(Context const& context, RetentionArgs const& args) {
    bool const turns = args.messages > 0 || !args.older_than.empty() || !args.bytes.empty();
    if (turns) return cut_messages(context, args);
    if (!args.session.empty())
        return failure(status::usage, "--session goes with --messages, --older-than or --bytes",
                       "To delete a session: dormouse delete SESSION.");
    json::Writer body;
    body.begin_object().member("dryRun", args.dry_run);
    struct Age {
        std::string const& text;
        char const* flag;
        char const* member;
    };
    for (auto const& [text, flag, member] :
         {Age{args.completed_after, "--completed-after", "completedAfterMs"},
          Age{args.audit_after, "--audit-after", "auditAfterMs"},
          Age{args.dead_deliveries_after, "--dead-deliveries-after", "deadDeliveriesAfterMs"}}) {
        if (text.empty()) continue;
        auto const age = parse_duration(text);
        if (!age)
            return failure(status::usage, std::string(flag) + " is not a time: " + text,
                           "A number and ms, s, m, h or d: 12h, 30d.");
        body.member(member, age->count());
    }
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const swept = sweep(context, *client, body.end_object().json(), args.dry_run);
    if (!swept) return std::unexpected(swept.error());
    if (context.global.json) return status::done;
    if (args.dry_run) {
        context.out << (swept->more ? "more than " : "") << counted(swept->sessions, "session")
                    << " would be deleted, " << counted(swept->bytes, "byte") << '\n';
    } else {
        context.out << counted(swept->deleted, "session") << " deleted, "
                    << counted(swept->bytes, "byte") << '\n';
    }
    char const* const fate = args.dry_run ? " would be deleted\n" : " were deleted\n";
    if (swept->lines > 0) context.out << swept->lines << " lines of the audit" << fate;
    if (swept->deliveries > 0)
        context.out << swept->deliveries << " webhooks that were given up" << fate;
    return status::done;
}

}  // namespace dormouse::cli
