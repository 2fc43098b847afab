#include "http/resources/operations/handlers.h"
#include "http/resources/operations/operation_fields.h"

#include <charconv>

// POST /api/doctor/repair: compares the tables derived from journals with them and rebuilds these.
namespace dormouse::http {

namespace {

constexpr std::string_view when_damaged =
    "its journal or an artifact is damaged, which repair cannot fix: restore a backup, or "
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
    if (one.repaired) return "nothing: its rows were rebuilt from its journal";
    if (dry_run) return "repair it: dormouse doctor --repair";
    return "try again; if it stays, restart the server";
}

std::string report_json(runner::RepairReport const& report, bool dry_run) {
    RepairAnswer answer{report, {}};
    for (auto const& one : report.found) answer.found.push_back({one, what_next(one, dry_run)});
    return object_text(answer);
}

}  // namespace

void post_repair(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), repair_request);
    bool const dry_run = body.boolean("dryRun").value_or(false);
    auto const after = number_in(body.string_or_empty("cursor"));
    if (!after) body.refuse({Code::bad_cursor, "The cursor is invalid."});
    if (body.error()) return x->fail(*body.error());
    api.services().runner.repair(*after, dry_run, x->asker(),
                                 [x, dry_run](Result<runner::RepairReport> report) {
                                     if (!report) return x->fail(report.error());
                                     x->json(200, report_json(*report, dry_run));
                                 });
}

}  // namespace dormouse::http
