#include "http/resources/operations/doctor/concerns.h"

#include "base/text/counted.h"
#include "base/url.h"
#include "http/resources/operations/doctor/database.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace dormouse::http {

namespace {

constexpr std::uint64_t free_percent_min = 10;
constexpr std::uint64_t free_bytes_min = std::uint64_t{1} << 30;
constexpr Duration whole_day{24LL * 3'600'000};
constexpr Duration full_soon = 7 * whole_day;
constexpr Duration backup_old = 7 * whole_day;
constexpr std::uint64_t files_percent_max = 80;
constexpr std::size_t receivers_shown = 5;

using Concerns = std::vector<Concern>;

// "3 days", "5 hours" or "4 minutes".
std::string span_text(Duration time) {
    constexpr Duration minute{60'000};
    constexpr Duration hour = 60 * minute;
    if (time < hour) return counted(static_cast<std::uint64_t>(time / minute), "minute");
    return time >= 2 * whole_day ? counted(static_cast<std::uint64_t>(time / whole_day), "day")
                                 : counted(static_cast<std::uint64_t>(time / hour), "hour");
}

void add_work(ConcernFacts const& facts, Concerns& out) {
    for (auto const& [agent, sessions] : facts.missing_agents)
        out.push_back({"agents",
                       "the agent '" + agent + "' is not configured, and " +
                           counted(sessions, "session") + " of it " +
                           (sessions == 1 ? "has" : "have") + " not ended",
                       "put [[agent]] " + agent +
                           " back and run dormouse reload; or end its sessions: dormouse sessions "
                           "--all lists them, and "
                           "dormouse end SESSION ends one"});
    for (auto const& [agent, why] : facts.rejected_keys) {
        std::string text = "the key of the model of '";
        text.append(agent).append("' was rejected: ").append(why);
        out.push_back({"key", std::move(text),
                       "correct the variable that api_key_env names, and restart the server"});
    }
    if (facts.failed_turns.empty()) return;
    auto const& newest = facts.failed_turns.back();
    out.push_back({"turns",
                   counted(facts.failed_turns.size(), "turn") +
                       " failed in the last 24 hours; the newest: " + newest.why,
                   "read it: dormouse show " + newest.session.text()});
}

// A URL without its path and query, which may be secret; the name of a receiver of notifications.
std::string receiver_name(std::string const& target) {
    auto const url = parse_url(target);
    return url ? url->authority() : target;
}

void add_receivers(ConcernFacts const& facts, Time now, Concerns& out) {
    std::size_t const shown = std::min(facts.receivers.size(), receivers_shown);
    for (std::size_t i = 0; i < shown; ++i) {
        auto const& one = facts.receivers[i];
        std::string text =
            "'" + receiver_name(one.target) + "' accepts no webhook or notification: ";
        text += counted(one.attempts, "attempt") + " failed in " + span_text(now - one.since);
        text += "; the newest: " + one.why;
        out.push_back({"receivers", std::move(text),
                       "check its address, its credentials and whether it runs; see each message: "
                       "dormouse deliveries --state pending"});
    }
    if (facts.receivers.size() > shown)
        out.push_back({"receivers",
                       "other receivers that accept nothing: " +
                           std::to_string(facts.receivers.size() - shown),
                       "see each message: dormouse deliveries --state pending"});
}

void add_people(ConcernFacts const& facts, Concerns& out) {
    if (facts.given_up > 0)
        out.push_back(
            {"deliveries",
             "webhooks and notifications that were given up: " + std::to_string(facts.given_up),
             "see why: dormouse deliveries --state dead, and --state disabled for receivers that "
             "are "
             "gone; then --retry or --forget each"});
    auto const url = parse_url(facts.public_url);
    if (facts.notifies && url && url->is_loopback())
        out.push_back({"public_url",
                       "notifications have links to " + facts.public_url +
                           ", which only this machine can open",
                       "set public_url in [server] to the address that people use"});
}

void add_disk(ConcernFacts const& facts, Concerns& out) {
    if (!facts.disk_free || !facts.disk_size) return;
    std::uint64_t const mib = *facts.disk_free >> 20U;
    bool const little = *facts.disk_free < free_bytes_min ||
                        *facts.disk_free < *facts.disk_size / 100 * free_percent_min;
    bool const soon = facts.until_full && *facts.until_full < full_soon;
    if (!little && !soon) return;
    std::string why = std::to_string(mib) + " MiB are free on the disk of the data directory";
    if (soon) why += ", and at the present rate it is full in " + span_text(*facts.until_full);
    out.push_back(
        {"disk", std::move(why), "make room, or remove old data: [retention], dormouse compact"});
}

void add_process(ConcernFacts const& facts, Concerns& out) {
    if (facts.clock_jumped)
        out.push_back({"clock",
                       "the wall clock jumped ahead, and deadlines are delayed by a minute",
                       "check the time of this machine: timedatectl"});
    if (facts.files_max > 0 && facts.files_open > facts.files_max / 100 * files_percent_max)
        out.push_back({"files",
                       std::to_string(facts.files_open) + " of at most " +
                           std::to_string(facts.files_max) + " files and connections are open",
                       "raise LimitNOFILE of the service, or ulimit -n"});
}

void add_backup(ConcernFacts const& facts, Time now, Concerns& out) {
    if (!facts.backed_up_here) return;
    std::string const next = "make one: dormouse backup DIRECTORY";
    if (facts.backup && *facts.backup + backup_old < now)
        out.push_back(
            {"backup", "the newest backup is " + span_text(now - *facts.backup) + " old", next});
    if (!facts.backup && facts.first_start + backup_old < now)
        out.push_back({"backup", "there was never a backup of this data directory", next});
}

void add_archive(ConcernFacts const& facts, Concerns& out) {
    if (facts.archive_failure.empty()) return;
    out.push_back({"archive", "completed sessions are not archived: " + facts.archive_failure,
                   "correct what it names: the server tries again by itself"});
}

void add_unwritable(ConcernFacts const& facts, Concerns& out) {
    if (facts.unwritable.empty()) return;
    out.push_back({"store", "the store takes no writes: " + facts.unwritable,
                   "free space on its disk, or make the database writable: the server continues by "
                   "itself"});
}

void add_redaction(ConcernFacts const& facts, Concerns& out) {
    if (!facts.removed_remain) return;
    out.push_back({"redaction",
                   "redacted contents are still in unused space of the files of the store, which "
                   "the server overwrites beside its other work",
                   "keep the server running until doctor no longer says so, and make the next "
                   "backup then"});
}

void add_signal(ConcernFacts const& facts, Concerns& out) {
    if (facts.signal_failure.empty()) return;
    out.push_back({"signal",
                   "this server and the others cannot tell each other at once what they append, "
                   "and ask the database instead: " +
                       facts.signal_failure,
                   "start that Redis server, or correct signal_url in [store]"});
}

void add_upgrade(ConcernFacts const& facts, Concerns& out) {
    if (!facts.upgrade) return;
    auto const& upgrade = *facts.upgrade;
    std::string older = upgrade.self_older ? "this server" : "";
    for (std::string const& name : upgrade.older) older += (older.empty() ? "" : ", ") + name;
    std::string const finish = "dormouse upgrade --finish --store URL";
    out.push_back(
        {"upgrade",
         "the upgrade of the database waits to be finished: format " +
             std::to_string(upgrade.written) + " is written, as older releases need it, " +
             "and format " + std::to_string(upgrade.newest) + " is ready",
         older.empty()
             ? "when no older release is needed any more: " + finish
             : "replace the servers of an older release (" + older + "), then: " + finish});
}

}  // namespace

std::optional<Time> last_backup(std::string const& directory) {
    if (directory.empty()) return std::nullopt;
    std::int64_t ms = 0;
    std::ifstream file(std::filesystem::path(directory) / last_backup_name);
    return file >> ms ? std::optional(from_ms(ms)) : std::nullopt;
}

std::vector<Concern> concerns_of(ConcernFacts const& facts, Time now) {
    Concerns out;
    add_work(facts, out);
    add_receivers(facts, now, out);
    add_people(facts, out);
    add_disk(facts, out);
    add_process(facts, out);
    add_backup(facts, now, out);
    add_archive(facts, out);
    add_unwritable(facts, out);
    add_redaction(facts, out);
    if (auto concern = facts.database ? database_concern(*facts.database) : std::nullopt)
        out.push_back(*std::move(concern));
    add_signal(facts, out);
    add_upgrade(facts, out);
    return out;
}

}  // namespace dormouse::http
