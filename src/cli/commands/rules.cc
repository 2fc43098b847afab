// Standing rules: a list; one revoked.

#include "cli/commands/commands.h"

#include "base/text/text.h"
#include "base/url.h"

#include <ostream>

namespace dormouse::cli {

namespace {

Outcome<Reply> read_rules(Context const& context, Client& client) {
    return client.get("/api/rules?project=" + percent_encode(context.global.project));
}

// The arguments that must be equal, with "…" for those that may differ.
std::string matching(json::View rule) {
    if (rule["match"].is_null()) return plain(rule["input"]);
    std::string out;
    rule["match"].elements([&](json::View name) {
        std::string const key = name.string_or("");
        out += (out.empty() ? "" : ", ") + key + " = " + plain(rule["input"][key]);
    });
    return out + ", …";
}

std::string until(json::View rule, Time now) {
    auto const expires = rule["time"]["expires"].integer();
    return expires ? ahead(*expires, now) : "session ends";
}

Outcome<int> list(Context const& context, Client& client) {
    auto const reply = read_rules(context, client);
    if (!reply) return std::unexpected(reply.error());
    Table table({{"RULE", Narrow::id},
                 {"BY", Narrow::words},
                 "SCOPE",
                 {"ALLOWS", Narrow::words},
                 {"ARGUMENTS", Narrow::words},
                 "USES",
                 "LAST",
                 "ENDS"});
    json::View(reply->body)["items"].elements([&](json::View one) {
        table.add({plain(one["id"]), plain(one["by"]["name"]), plain(one["scope"]),
                   plain(one["tool"]), matching(one), plain(one["uses"]),
                   ago(one["time"]["used"].integer_or(0), context.now()),
                   until(one, context.now())});
    });
    context.show(reply->body, table.empty()
                                  ? "no standing rules: people are asked about each call\n"
                                  : table.text(context.style, context.columns));
    return status::done;
}

// The whole id of the only rule that begins so.
Outcome<std::string> resolve(Context const& context, Client& client, std::string const& start) {
    auto const reply = read_rules(context, client);
    if (!reply) return std::unexpected(reply.error());
    std::vector<std::string> found;
    json::View(reply->body)["items"].elements([&](json::View one) {
        auto id = one["id"].string_or("");
        if (id == start) found = {id};
        bool const exact = found.size() == 1 && found.front() == start;
        if (!exact && id.starts_with(start)) found.push_back(std::move(id));
    });
    if (found.size() == 1) return found.front();
    if (found.empty())
        return failure(status::not_found, "no standing rule begins with " + start,
                       "See: dormouse rules");
    return failure(status::usage, "several standing rules begin with " + start,
                   "Write more of the id; see: dormouse rules");
}

Outcome<int> revoke(Context const& context, Client& client, std::string const& start) {
    auto const id = resolve(context, client, start);
    if (!id) return std::unexpected(id.error());
    auto const reply = client.remove("/api/rules/" + percent_encode(*id));
    if (!reply) return std::unexpected(reply.error());
    if (!context.global.json) context.out << "revoked " << escape_for_terminal(*id) << '\n';
    return status::done;
}

}  // namespace

Outcome<int> execute(Context const& context, RulesArgs const& args) {
    if (args.what == "revoke" && args.id.empty()) {
        return failure(status::usage, "rules revoke needs the rule",
                       "Try: dormouse rules revoke rul_…; see: dormouse rules");
    }
    if (args.what == "list" && !args.id.empty())
        return failure(status::usage, "rules list takes no rule", "Try: dormouse rules");
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    return args.what == "revoke" ? revoke(context, *client, args.id) : list(context, *client);
}

}  // namespace dormouse::cli
