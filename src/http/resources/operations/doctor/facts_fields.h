#pragma once
// The members of nodes, starts and audit lines (http/objects/fields.h).

#include "http/objects/object_fields.h"
#include "http/resources/operations/doctor/facts.h"

#include <dormouse/id.h>

namespace dormouse::http {

template <>
inline constexpr auto rows<Start> = object(
    "Start", "One start of the server on its store.",
    field("epoch", &Start::epoch, "Number of times that the store was opened; events name it."),
    field("startedAt", &Start::started),
    field("aliveAt", &Start::alive, "When it was last known to run; null: it runs now."),
    field("clean", &Start::clean, "It ended by itself; false: it was killed; null: it runs now."));

// A process of the server and, of the one that answers, what it uses.
struct NodeEntry {
    std::string release = {};
    Epoch epoch = 0;
    Time started = {};
    Time now = {};
    bool self = true;
    std::string name = {};
    std::string url = {};
    bool draining = false;
    std::optional<std::int64_t> format = {};
    std::optional<std::uint64_t> resident = {};
    std::optional<std::uint64_t> resident_bytes = {};
    std::optional<bool> clock_guarded = {};
    std::optional<std::string> directory = {};
    std::optional<std::uint64_t> data_bytes = {};
    std::optional<std::uint64_t> free_bytes = {};
};
template <>
inline constexpr auto rows<NodeEntry> = object(
    "Node", "A process of the server.",
    field("id", [](NodeEntry const& node) { return "node_" + std::to_string(node.epoch); }),
    field("release", &NodeEntry::release), field("epoch", &NodeEntry::epoch),
    field("startedAt", &NodeEntry::started),
    field("uptimeMs", [](NodeEntry const& node) { return node.now - node.started; }),
    field("self", &NodeEntry::self,
          "It has answered this request. Of the others, what is below `format` is null."),
    field("name", &NodeEntry::name,
          "Names it among those that share the store, also after a restart; empty: it uses the "
          "store alone."),
    field("url", &NodeEntry::url, "Where it answers requests; empty: unknown."),
    field("draining", &NodeEntry::draining, "It is about to end, and begins nothing more."),
    field("format", &NodeEntry::format,
          "The newest format of the shared store that it reads and writes; null: it uses the store "
          "alone."),
    field("resident", &NodeEntry::resident, "Sessions in memory."),
    field("residentBytes", &NodeEntry::resident_bytes, "Approximate memory of idle ones."),
    field("clockGuarded", &NodeEntry::clock_guarded,
          "Deadlines are delayed because the clock jumped ahead."),
    nested("data", "", field("directory", &NodeEntry::directory, "null: the store is in memory."),
           field("bytes", &NodeEntry::data_bytes, "Size of the files in it."),
           field("freeBytes", &NodeEntry::free_bytes, "Free on its disk.")));

// A line of the audit as the API shows it.
struct AuditEntry {
    std::uint64_t number = 0;
    Time at = {};
    std::string type = {};
    std::optional<std::string> by = {};
    std::optional<std::string> session = {};
    std::optional<std::string> pending = {};
    Json line = {};
    std::string hash = {};
    std::optional<bool> verified = {};
};
template <>
inline constexpr auto rows<AuditEntry> = object(
    "AuditLine", "An audit entry: who did what.",
    field("n", &AuditEntry::number, "Its number; without gaps."), field("at", &AuditEntry::at),
    field("type", &AuditEntry::type),
    field("by", &AuditEntry::by, "Name of the token; null: the server itself."),
    field("sessionID", &AuditEntry::session), field("pendingID", &AuditEntry::pending),
    field("line", &AuditEntry::line, {.about = "All of it.", .more = R"("type":"object")"}),
    field("hash", &AuditEntry::hash),
    field("verified", &AuditEntry::verified,
          "Its hash follows from the line before it; null: that line was removed by retention."));

struct AuditPage {
    std::vector<AuditEntry> items = {};
    std::optional<std::string> next = {};
    std::uint64_t checked = 0;
    bool verified = true;
    std::vector<std::uint64_t> written = {};
};
template <>
inline constexpr auto rows<AuditPage> = object(
    "AuditPage", "Lines of the audit, newest first.", field("items", &AuditPage::items),
    field("next", &AuditPage::next),
    field("checked", &AuditPage::checked, "Number of lines that this request read and verified."),
    field("verified", &AuditPage::verified,
          "false: a line that it read was changed, or the newest lines of a server are missing."),
    field("written", &AuditPage::written,
          "In the first page: the number of the newest line that each server ever wrote. If a "
          "smaller one is the newest of the list, the lines between were removed."));

}  // namespace dormouse::http
