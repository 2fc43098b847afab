// The audit: its newest lines, or all of them verified.

#include "cli/commands/commands.h"

#include "base/url.h"

#include <ostream>

namespace dormouse::cli {

namespace {

constexpr int page_lines = 200;

// GET /api/audit with the filters of the command; `limit` lines, after `cursor`.
std::string target_of(AuditArgs const& args, int limit, std::string_view cursor) {
    std::string out = "/api/audit?limit=" + std::to_string(limit);
    for (auto const& [name, value] :
         {std::pair<std::string_view, std::string_view>{"session", args.session},
          {"by", args.by},
          {"type", args.type},
          {"cursor", cursor}})
        if (!value.empty()) out += "&" + std::string(name) + "=" + percent_encode(value);
    return out;
}

Outcome<int> show(Context const& context, Client& client, AuditArgs const& args) {
    auto const page = client.get(target_of(args, args.limit, ""));
    if (!page) return std::unexpected(page.error());
    json::View const body(page->body);
    context.show(page->body,
                 audit_table(body["items"], wall_clock(), context.style, context.columns));
    if (!body["next"].is_null() && !context.global.json)
        context.out << "there are more: --limit N, or --session, --by, --type\n";
    if (body["verified"].boolean_or(false)) return status::done;
    return failure(status::failed, "a line of the audit was changed",
                   "See which: dormouse audit --verify");
}

struct Verified {
    std::int64_t lines = 0;
    std::string newest = {};  // "line 12 sha256:…"
    std::vector<std::string> changed = {};
};

void add_page(json::View body, Verified& all) {
    all.lines += body["checked"].integer_or(0);
    body["items"].elements([&](json::View one) {
        std::string const line = "line " + std::to_string(one["n"].integer_or(0));
        if (all.newest.empty()) all.newest = line + " " + plain(one["hash"]);
        if (!one["verified"].boolean_or(true)) all.changed.push_back(line);
    });
}

Outcome<int> verify(Context const& context, Client& client) {
    Verified all;
    std::string cursor;
    do {
        auto const page = client.get(target_of({}, page_lines, cursor));
        if (!page) return std::unexpected(page.error());
        json::View const body(page->body);
        add_page(body, all);
        if (!body["verified"].boolean_or(false) && all.changed.empty())
            return failure(status::failed, "a line of the audit is not readable",
                           "Stop the server, then: dormouse verify");
        cursor = body["next"].string_or("");
    } while (!cursor.empty());
    json::Writer report;
    report.begin_object().member("lines", all.lines).member("newest", all.newest);
    report.key("changed").begin_array();
    for (std::string const& line : all.changed) report.value(line);
    report.end_array().end_object();
    std::string text = std::to_string(all.lines) + " lines verified";
    if (!all.newest.empty()) text += "; newest: " + all.newest;
    context.show(report.json(), text + "\n");
    if (all.changed.empty()) return status::done;
    return failure(status::failed,
                   all.changed.front() + " or the line before it was changed; " +
                       std::to_string(all.changed.size()) + " in all",
                   "Compare with a backup: dormouse restore DIR --data OTHER");
}

}  // namespace

Outcome<int> execute(Context const& context, AuditArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    return args.verify ? verify(context, *client) : show(context, *client, args);
}

}  // namespace dormouse::cli
