// The audit: its newest lines, or all of them verified.

#include "cli/commands/commands.h"

#include "base/url.h"
#include "cli/client/resolve.h"
#include "cli/commands/operate/audit_check.h"

#include <cstddef>
#include <ostream>
#include <ranges>

namespace dormouse::cli {

namespace {

constexpr int page_lines = 200;
constexpr std::size_t findings_shown = 5;

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
                 audit_table(body["items"], context.now(), context.style, context.columns));
    if (!body["next"].is_null() && !context.global.json)
        context.out << "there are more: --limit N, or --session, --by, --type\n";
    if (body["verified"].boolean_or(false)) return status::done;
    return failure(status::failed, "a line of the audit was changed or removed",
                   "See which: dormouse audit --verify");
}

Json json_of(AuditCheck::Report const& all) {
    json::Writer out;
    out.begin_object().member("lines", all.lines).key("newest").begin_array();
    for (AuditCheck::Line const& line : all.newest)
        out.begin_object().member("line", line.number).member("hash", line.hash).end_object();
    out.end_array().key("findings").begin_array();
    for (std::string const& finding : all.findings) out.value(finding);
    return out.end_array().end_object().json();
}

std::string text_of(AuditCheck::Report const& all) {
    std::string out =
        std::to_string(all.lines) + (all.lines == 1 ? " line" : " lines") + " verified";
    char const* between = "; newest: ";
    for (AuditCheck::Line const& line : all.newest) {
        out += between + ("line " + std::to_string(line.number)) + " " + line.hash;
        between = "\n  newest of another server: ";
    }
    return out + "\n";
}

Outcome<int> verify(Context const& context, Client& client) {
    AuditCheck check;
    std::string cursor;
    do {
        auto const page = client.get(target_of({}, page_lines, cursor));
        if (!page) return std::unexpected(page.error());
        json::View const body(page->body);
        check.add(body);
        cursor = body["next"].string_or("");
    } while (!cursor.empty());
    auto const all = check.report();
    context.show(json_of(all), text_of(all));
    if (all.findings.empty()) return status::done;
    std::string what;
    for (std::string const& finding : all.findings | std::views::take(findings_shown))
        what += (what.empty() ? "" : "; ") + finding;
    if (all.findings.size() > findings_shown)
        what += "; " + std::to_string(all.findings.size()) + " findings in all";
    return failure(status::failed, what,
                   "Compare with a backup: dormouse restore DIR --data OTHER");
}

}  // namespace

Outcome<int> execute(Context const& context, AuditArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    if (args.verify) return verify(context, *client);
    AuditArgs whole = args;
    if (!args.session.empty()) {
        auto const session = resolve_session(*client, context.global.project, args.session);
        if (!session) return std::unexpected(session.error());
        whole.session = *session;
    }
    return show(context, *client, whole);
}

}  // namespace dormouse::cli
