// Renders the answers of `dormouse doctor`.

#include "base/text/counted.h"
#include "cli/render/render.h"

#include "base/text/text.h"
#include "cli/render/render_copy.h"

#include <algorithm>

namespace dormouse::cli {
namespace {

std::string shown_text(json::View value) { return escape_for_terminal(plain(value)); }

std::string nodes_text(json::View nodes) {
    std::string out;
    nodes.elements([&](json::View node) {
        out += "node      " + counted(node["resident"].integer_or(0), "session") + " in memory";
        if (node["clockGuarded"].boolean_or(false))
            out += "; the clock jumped ahead, so deadlines wait for a minute";
        out += "\n";
    });
    return out;
}

std::string others_text(json::View others) {
    std::string out;
    others.elements([&](json::View node) {
        out += "beside    " + shown_text(node["name"]) + " " + shown_text(node["url"]) +
               ", release " + shown_text(node["release"]) + ", format " +
               std::to_string(node["format"].integer_or(0));
        if (node["draining"].boolean_or(false)) out += "; it is about to end";
        out += "\n";
    });
    return out;
}

// database  PostgreSQL 15.4, primary; 1 standby
//           pg2: sync, streaming, 0 bytes behind
//           the promotion of a synchronous standby loses no acknowledged result
std::string database_text(json::View database) {
    if (database.kind() != json::Kind::object) return {};
    std::string const margin(10, ' ');
    auto const count = database["standbyCount"].integer_or(0);
    std::string out = "database  PostgreSQL " + shown_text(database["version"]);
    out += database["primary"].boolean_or(true) ? ", primary; " : ", standby; ";
    out += (count == 0 ? "no standby" : counted(count, "standby")) + "\n";
    database["standbys"].elements([&](json::View one) {
        auto const behind = one["behindBytes"].integer();
        out += margin + shown_text(one["name"]) + ": " + shown_text(one["sync"]) + ", " +
               shown_text(one["state"]) + ", " +
               (behind ? counted(*behind, "byte") + " behind" : "how far behind is unknown") + "\n";
    });
    if (!database["standbysHidden"].is_null())
        out += margin + "standbys are not shown: " + shown_text(database["standbysHidden"]) + "\n";
    return out + margin + shown_text(database["guarantee"]) + "\n";
}

std::string gone_text(json::View gone, bool held) {
    auto const count = gone["count"].integer_or(0);
    if (count == 0) return {};
    std::string ids;
    gone["sessions"].elements(
        [&](json::View one) { ids += (ids.empty() ? "" : " ") + shown_text(one); });
    if (static_cast<std::int64_t>(gone["sessions"].size()) < count) ids += " ...";
    return "gone      " + counted(count, "session") + " at work on servers that are gone; " +
           (held ? "they continue after dormouse release: "
                 : "the others take over within seconds: ") +
           ids + "\n";
}

std::string format_text(json::View format) {
    if (format.kind() != json::Kind::object) return {};
    auto const written = format["written"].integer_or(0);
    auto const newest = format["newest"].integer_or(0);
    return "format    " + std::to_string(written) + " is written; this server knows up to " +
           std::to_string(format["known"].integer_or(0)) +
           (written < newest
                ? "; the upgrade to " + std::to_string(newest) + " waits to be finished"
                : "") +
           "\n";
}

std::string indexes_text(json::View indexes, Time now) {
    std::string out;
    indexes.elements([&](json::View index) {
        out += "index     " + shown_text(index["name"]) + ": " + shown_text(index["state"]);
        if (!index["why"].is_null()) out += ": " + shown_text(index["why"]);
        if (auto const since = index["behindSince"].integer())
            out += "; behind since " + ago(*since, now);
        out += "\n";
    });
    return out;
}

// Shows the status of an export of traces or metrics. `unit`: what the export counts.
std::string export_text(std::string name, json::View traces, std::string const& unit, Time now) {
    if (traces.kind() != json::Kind::object) return {};
    name.resize(10, ' ');
    std::string out = name + shown_text(traces["endpoint"]) + ": ";
    bool const works = traces["ok"].boolean_or(false);
    bool const is_new = works && traces["exported"].integer_or(0) == 0;
    out += is_new ? "nothing was sent yet" : works ? "ok" : shown_text(traces["why"]);
    if (auto const since = traces["failingSince"].integer())
        out += "; failing since " + ago(*since, now);
    return out + "; " + counted(traces["dropped"].integer_or(0), unit) + " dropped\n";
}

std::string queues_text(json::View queues, Time now) {
    if (queues.kind() != json::Kind::object) return {};
    std::string out = "at work   " + counted(queues["outstanding"].integer_or(0), "session");
    auto const next = queues["nextWakeAt"].integer_or(0);
    if (next > to_ms(now)) out += "; the next one wakes " + ahead(next, now);
    out += "\n";
    if (auto const oldest = queues["oldestWaitingAt"].integer())
        out += "waiting   " + counted(queues["waiting"].integer_or(0), "call") +
               "; the oldest one since " + ago(*oldest, now) + "\n";
    queues["models"].elements([&](json::View model) {
        out += "model     " + shown_text(model["model"]) + ": " +
               counted(model["running"].integer_or(0), "request") + " on the way, " +
               std::to_string(model["waiting"].integer_or(0)) + " waiting\n";
    });
    return out;
}

std::string findings_text(json::View report, std::string_view name, std::string_view what,
                          Paint paint, Style style) {
    json::View const findings = report[name];
    auto const shown = static_cast<std::int64_t>(findings.size());
    auto const count = std::max(report["counts"][name].integer_or(0), shown);
    if (count == 0) return "";
    auto out = style(paint, std::to_string(count) + " " + std::string(what)) + "\n";
    findings.elements([&](json::View one) {
        out += "  " + shown_text(one["sessionID"]) + ": " + shown_text(one["why"]) +
               "\n    next: " + shown_text(one["next"]) + "\n";
    });
    if (count > shown) out += "  and " + std::to_string(count - shown) + " more\n";
    return out;
}

// One line for each: mcp notes: ready, sign-in good
std::string mcp_servers_text(json::View servers) {
    std::string out;
    servers.elements([&](json::View one) {
        auto const sign_in = one["signIn"].string_or("none");
        auto const why = one["why"].string_or("");
        out += "mcp " + shown_text(one["server"]) + ": " + shown_text(one["state"]);
        if (sign_in != "none") out += ", sign-in " + sign_in;
        out += (why.empty() ? "" : ", " + shown_text(one["why"])) + "\n";
    });
    return out;
}

}  // namespace

std::string doctor_text(json::View report, Time now, Style style, std::optional<bool> before) {
    bool const last = report["next"].string_or("").empty();
    bool const ok = report["ok"].boolean_or(false) && before.value_or(true);
    auto out = ok && last ? style(Paint::green, "ok: no session is stuck") + "\n" : std::string();
    if (report["held"].boolean_or(false))
        out += style(Paint::yellow, "held") +
               "\n  this is a restored copy: nothing is started\n    next: dormouse release\n";
    out += findings_text(report, "stuck", "stuck", Paint::red, style);
    out += findings_text(report, "unreadable", "unreadable", Paint::red, style);
    out += findings_text(report, "orphaned", "orphaned", Paint::red, style);
    out += findings_text(report, "blocked", "blocked", Paint::yellow, style);
    out += findings_text(report, "inDoubt", "in doubt", Paint::yellow, style);
    out += findings_text(report, "notAsking", "not asking", Paint::yellow, style);
    if (before) return out;
    report["signIns"].elements([&](json::View one) {
        out += style(Paint::yellow, "sign-in needed") + "\n  MCP server " +
               shown_text(one["server"]) + "\n    next: " + shown_text(one["next"]) + "\n";
    });
    report["concerns"].elements([&](json::View one) {
        out += style(Paint::yellow, "look at " + shown_text(one["about"])) + "\n  " +
               shown_text(one["why"]) + "\n    next: " + shown_text(one["next"]) + "\n";
    });
    return out + mcp_servers_text(report["mcpServers"]) + nodes_text(report["nodes"]) +
           others_text(report["others"]) + database_text(report["database"]) +
           gone_text(report["ofGoneServers"], report["held"].boolean_or(false)) +
           format_text(report["storeFormat"]) + indexes_text(report["indexes"], now) +
           export_text("traces", report["traces"], "span", now) +
           export_text("metrics", report["metrics"], "report", now) +
           copy_text(report["copy"], now) + queues_text(report["queues"], now);
}

std::string cut_text(json::View report, Style style) {
    std::string names;
    report["cut"].elements(
        [&](json::View one) { names += (names.empty() ? "" : ", ") + shown_text(one); });
    if (names.empty()) return {};
    auto out = style(Paint::yellow, "not all was looked at") + "\n  " +
               std::to_string(report["lookedAt"].integer_or(0)) +
               " sessions were read; there may be more in: " + names + "\n";
    if (!report["next"].string_or("").empty()) out += "    next: dormouse doctor --all\n";
    return out;
}

std::string repair_text(json::View report, Style style) {
    std::string out;
    report["found"].elements([&](json::View one) {
        bool const repaired = one["repaired"].boolean_or(false);
        out += style(repaired ? Paint::green : Paint::red, repaired ? "repaired" : "wrong") + " " +
               shown_text(one["sessionID"]) + ": " + shown_text(one["what"]) +
               "\n    next: " + shown_text(one["next"]) + "\n";
    });
    return out;
}

}  // namespace dormouse::cli
