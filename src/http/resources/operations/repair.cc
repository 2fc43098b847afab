#include "http/resources/operations/handlers.h"

#include <charconv>

// POST /api/doctor/repair: what stands beside journals is compared with them, and made anew.
namespace dormouse::server {

namespace {

constexpr std::string_view when_damaged =
    "its journal or an artifact is damaged, which nothing here can mend: restore a backup, or "
    "delete the session";

std::optional<std::uint64_t> number_in(std::string const& cursor) {
    if (cursor.empty()) return 0;
    std::uint64_t out = 0;
    auto const [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), out);
    bool const whole = error == std::errc() && end == cursor.data() + cursor.size();
    return whole ? std::optional(out) : std::nullopt;
}

std::string_view what_next(runner::RepairReport::Found const& one, bool dry_run) {
    if (!one.repairable) return when_damaged;
    if (one.repaired) return "nothing: its rows were made anew from its journal";
    if (dry_run) return "repair it: dormouse doctor --repair";
    return "try again; if it stays, restart the server";
}

std::string report_json(runner::RepairReport const& report, bool dry_run) {
    json::Writer out;
    out.begin_object().member("sessions", report.sessions).member("events", report.events);
    out.key("found").begin_array();
    for (auto const& one : report.found) {
        out.begin_object().member("sessionID", one.session.text()).member("what", one.what);
        out.member("repaired", one.repaired).member("next", what_next(one, dry_run)).end_object();
    }
    out.end_array();
    auto const next = report.next ? std::optional(std::to_string(*report.next)) : std::nullopt;
    return out.member("next", next).end_object().take();
}

}  // namespace

void post_repair(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"dryRun", "cursor"});
    bool const dry_run = body.boolean("dryRun").value_or(false);
    auto const after = number_in(body.string("cursor").value_or(""));
    if (!after) body.refuse({Code::bad_cursor, "This cursor is not one that the server gave."});
    if (body.error()) return x->fail(*body.error());
    api.services().runner.repair(*after, dry_run, x->asker(),
                                 [x, dry_run](Result<runner::RepairReport> report) {
                                     if (!report) return x->fail(report.error());
                                     x->json(200, report_json(*report, dry_run));
                                 });
}

}  // namespace dormouse::server
