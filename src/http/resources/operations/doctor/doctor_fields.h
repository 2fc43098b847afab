#pragma once
// The members of the answer of doctor (http/objects/fields.h).

#include "http/objects/fields.h"
#include "http/resources/operations/doctor/concerns.h"
#include "http/resources/operations/doctor/database_fields.h"
#include "port/copies.h"
#include "port/exports.h"
#include "port/foreign_sign_in.h"
#include "port/index.h"
#include "port/meter.h"
#include "port/shared_store.h"

#include <cstdint>
#include <vector>

namespace dormouse::http {

// A session that needs attention.
struct Finding {
    SessionId session;
    std::optional<PendingId> pending = {};
    std::string why = {};
    std::string next = {};
};
template <>
inline constexpr auto rows<Finding> = object(
    "Finding", "A session that needs attention.", field("sessionID", &Finding::session),
    maybe("pendingID", &Finding::pending, "The call that the finding is about, if any."),
    field("why", &Finding::why), field("next", &Finding::next, "The next step for a person."));

// Keeps the first findings and counts all.
struct Findings {
    static constexpr std::size_t shown_max = 200;
    std::vector<Finding> shown = {};
    std::uint64_t count = 0;

    void add(Finding one) {
        ++count;
        if (shown.size() < shown_max) shown.push_back(std::move(one));
    }
    void add(std::vector<Finding> all) {
        for (Finding& one : all) add(std::move(one));
    }
};

// A foreign MCP server that does nothing until a person signs in.
struct NeededSignIn {
    std::string server;
    std::string next;
};
template <>
inline constexpr auto rows<NeededSignIn> =
    object("", "", field("server", &NeededSignIn::server),
           field("next", &NeededSignIn::next, "The next step for a person."));

template <>
inline constexpr auto rows<port::ForeignServer> = object(
    "", "", field("server", &port::ForeignServer::name),
    field("state", &port::ForeignServer::state, "starting, ready or failing."),
    field("signIn", &port::ForeignServer::sign_in,
          "none: it takes no tokens. unasked: it has not asked for one yet. needed, expired: a "
          "person must sign in, for the first time or with more rights, or again. good."),
    field("why", or_null(&port::ForeignServer::why), "The newest failure; else null."));

template <>
inline constexpr auto rows<Concern> = object(
    "", "",
    field("about", &Concern::about,
          "agents, archive, backup, clock, database, deliveries, disk, files, key, public_url, "
          "receivers, redaction, signal, store, turns or upgrade."),
    field("why", &Concern::why), field("next", &Concern::next, "What to do."));

struct FoundByKind {
    Findings stuck = {};
    Findings blocked = {};
    Findings in_doubt = {};
    Findings orphaned = {};
    Findings unreadable = {};
    Findings not_asking = {};
    [[nodiscard]] bool ok() const { return stuck.count + orphaned.count + unreadable.count == 0; }
};

template <>
inline constexpr auto rows<port::ModelLoad> = object(
    "", "", field("model", &port::ModelLoad::model), field("running", &port::ModelLoad::running),
    field("waiting", &port::ModelLoad::waiting));

struct NodeFacts {
    std::size_t resident = 0;
    std::size_t resident_bytes = 0;
    bool clock_guarded = false;
};
template <>
inline constexpr auto rows<NodeFacts> = object(
    "", "", field("resident", &NodeFacts::resident, "Sessions in memory."),
    field("residentBytes", &NodeFacts::resident_bytes, "Memory of idle sessions, estimated."),
    field("clockGuarded", &NodeFacts::clock_guarded,
          "The wall clock jumped ahead; expiries wait until it is certain."));

// A process that shares the store with the one that answers.
template <>
inline constexpr auto rows<port::NodeRow> =
    object("", "", field("epoch", &port::NodeRow::epoch), field("name", &port::NodeRow::name),
           field("url", &port::NodeRow::url), field("release", &port::NodeRow::release),
           field("startedAt", &port::NodeRow::started), field("draining", &port::NodeRow::draining),
           field("format", &port::NodeRow::format,
                 "The newest format of the store that it reads and writes."));

// The formats of a shared store.
struct FormatFacts {
    port::StoreFormat stored = {};
    std::int64_t known = 0;  // 0: the store is not shared
};
template <>
inline constexpr auto rows<FormatFacts> = object(
    "", "",
    field(
        "written", [](FormatFacts const& all) { return all.stored.written; },
        "The format that is written. A release without support for it is refused at its start."),
    field(
        "newest", [](FormatFacts const& all) { return all.stored.newest; },
        "Format of the newest release that ever opened the store. Larger than `written`: an "
        "upgrade waits "
        "to be finished (dormouse upgrade --finish)."),
    field("known", &FormatFacts::known, "The newest one that this process reads and writes."));

template <>
inline constexpr auto rows<port::IndexStatus> = object(
    "", "", field("name", &port::IndexStatus::name), field("state", &port::IndexStatus::state),
    field("why", or_null(&port::IndexStatus::why), "Why it failed; else null."),
    field("behindSince", &port::IndexStatus::behind_since,
          "When the oldest append that it lacks was made, in milliseconds since the Unix epoch; "
          "null: it lacks none."));

template <>
inline constexpr auto rows<port::ExportStatus> =
    object("", "", field("endpoint", &port::ExportStatus::endpoint),
           field("ok", &port::ExportStatus::works, "The newest attempt did not fail."),
           field("why", or_null(&port::ExportStatus::why), "Why it failed; else null."),
           field("failingSince", &port::ExportStatus::failing_since,
                 "In milliseconds since the Unix epoch; null: it does not fail."),
           field("exported", &port::ExportStatus::exported,
                 "Spans, or reports of all metrics, that the collector took."),
           field("dropped", &port::ExportStatus::dropped, "Those that it will never get."),
           field("waiting", &port::ExportStatus::waiting, "Those that wait for it."));

template <>
inline constexpr auto rows<port::CopyStatus> =
    object("", "", field("target", &port::CopyStatus::target),
           field("ok", &port::CopyStatus::works, "The newest attempt did not fail."),
           field("why", or_null(&port::CopyStatus::why), "Why it failed; else null."),
           field("failingSince", &port::CopyStatus::failing_since,
                 "In milliseconds since the Unix epoch; null: it does not fail."),
           field("copiedAt", &port::CopyStatus::copied_at,
                 "The copy has everything that was stored by then, in milliseconds since the Unix "
                 "epoch; null: this process has not completed one yet."),
           field("feed", &port::CopyStatus::feed, "The newest position of the feed in it."),
           field("asked", &port::CopyStatus::asked,
                 "How many requests of POST /api/copy this process has taken."),
           field("answered", &port::CopyStatus::answered,
                 "The number of the newest `POST /api/copy` after which an attempt has ended. If "
                 "`ok`, the copy has everything that was acknowledged before that request."));

// A request to copy at once.
struct CopyAsked {
    std::uint64_t number = 0;
};
template <>
inline constexpr auto rows<CopyAsked> =
    object("CopyAsked", "A request to copy at once.",
           field("number", &CopyAsked::number,
                 "Done once `copy.answered` of GET /api/doctor has reached it."));

struct DoctorAnswer {
    Ref<FoundByKind> found;
    std::uint64_t looked_at = 0;
    std::optional<std::string> next = {};
    std::optional<std::string> store = {};
    std::vector<NodeFacts> nodes = {};
    std::vector<port::NodeRow> others = {};
    std::optional<FormatFacts> format = {};
    bool held = false;
    std::vector<std::string> cut = {};
    std::uint64_t outstanding = 0;
    port::OpenPending waiting = {};
    std::optional<Time> next_wake = {};
    std::vector<Concern> concerns = {};
    std::vector<port::ModelLoad> models = {};
    std::vector<NeededSignIn> sign_ins = {};
    std::vector<port::ForeignServer> mcp_servers = {};
    std::vector<port::IndexStatus> indexes = {};
    std::optional<port::ExportStatus> traces = {};
    std::optional<port::ExportStatus> metrics = {};
    std::optional<port::CopyStatus> copy = {};
    std::optional<port::DatabaseStatus> database = {};
    OfGoneServers of_gone_servers = {};
};

template <Findings FoundByKind::* Kind> std::vector<Finding> const& shown(DoctorAnswer const& all) {
    return (all.found.get().*Kind).shown;
}
template <Findings FoundByKind::* Kind> std::uint64_t found_of_kind(DoctorAnswer const& all) {
    return (all.found.get().*Kind).count;
}

template <>
inline constexpr auto rows<DoctorAnswer> = object(
    "Doctor", "Work that does not continue by itself. Each list shows the first 200.",
    field(
        "ok", [](DoctorAnswer const& all) { return all.found.get().ok(); },
        "No session is stuck, orphaned or unreadable."),
    field("stuck", shown<&FoundByKind::stuck>, "Sessions whose outstanding work is overdue."),
    field("blocked", shown<&FoundByKind::blocked>,
          "Sessions with a call that waits for a gate or a tool that is not configured, with mail "
          "that waits for a person, whose status is error, or that continue only on a server that "
          "does not run."),
    field("inDoubt", shown<&FoundByKind::in_doubt>,
          "Calls whose attempt a crash interrupted: a person must report its outcome."),
    field("orphaned", shown<&FoundByKind::orphaned>,
          "Sessions that wait although the session that started them has ended."),
    field("unreadable", shown<&FoundByKind::unreadable>,
          "Sessions in which a call waits, or with outstanding work, that cannot be read."),
    field("notAsking", shown<&FoundByKind::not_asking>,
          "Sessions whose program runs in a mode in which it does not ask for every permission, "
          "in addition to gates for permissions."),
    field("signIns", &DoctorAnswer::sign_ins,
          "MCP servers that do nothing until a person signs in to them."),
    field("mcpServers", &DoctorAnswer::mcp_servers, "The MCP servers that agents use."),
    field("concerns", &DoctorAnswer::concerns,
          "Conditions to check before they become problems; in the first answer."),
    nested("counts", "Number of each.", field("stuck", found_of_kind<&FoundByKind::stuck>),
           field("blocked", found_of_kind<&FoundByKind::blocked>),
           field("inDoubt", found_of_kind<&FoundByKind::in_doubt>),
           field("orphaned", found_of_kind<&FoundByKind::orphaned>),
           field("unreadable", found_of_kind<&FoundByKind::unreadable>),
           field("notAsking", found_of_kind<&FoundByKind::not_asking>)),
    field("lookedAt", &DoctorAnswer::looked_at, "Sessions that were read for this answer."),
    field("next", &DoctorAnswer::next, "The cursor for the rest; null: all were read."),
    field("cut", &DoctorAnswer::cut,
          "Members of this answer that are incomplete because a limit was reached: blocked, "
          "concerns, inDoubt, ofGoneServers, orphaned, outstanding, stuck, unreadable or waiting."),
    field("store", &DoctorAnswer::store,
          "sqlite, memory, or the database without user and password; null: unknown."),
    field("nodes", &DoctorAnswer::nodes),
    field("others", &DoctorAnswer::others, "The other processes that share the store."),
    field("database", &DoctorAnswer::database,
          "The server of the store, in the first answer; null: the store has none."),
    field("ofGoneServers", &DoctorAnswer::of_gone_servers,
          "Sessions at work whose server is gone, until another one takes them over within "
          "seconds; in the first answer."),
    field("storeFormat", &DoctorAnswer::format,
          "The formats of a store that several processes may use; null: of another one."),
    field("indexes", &DoctorAnswer::indexes, "The indexes outside of the store."),
    field("traces", &DoctorAnswer::traces,
          "The export of traces to a collector; null: none is configured."),
    field("metrics", &DoctorAnswer::metrics,
          "The export of metrics to a collector; null: none is configured."),
    field("copy", &DoctorAnswer::copy,
          "The continuous copy of the data directory; null: none is configured."),
    field("held", &DoctorAnswer::held,
          "The store is a restored copy that holds: nothing is started until it is released."),
    nested("queues", "",
           field("outstanding", &DoctorAnswer::outstanding, "Sessions at work, up to 11,000."),
           field(
               "waiting", [](DoctorAnswer const& all) { return all.waiting.count; },
               "Calls that wait, up to 10,000."),
           field(
               "oldestWaitingAt", [](DoctorAnswer const& all) { return all.waiting.oldest; },
               "When the oldest of these began to wait."),
           field("nextWakeAt", &DoctorAnswer::next_wake),
           field("models", &DoctorAnswer::models,
                 "Requests to each model: running, and waiting for its concurrency limit.")));

}  // namespace dormouse::http
