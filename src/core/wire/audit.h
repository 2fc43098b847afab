#pragma once
// Audit lines of events: who decided, settled or claimed what, and when.

#include "json/json.h"
#include "wire/journal/record.h"

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::wire {

// {"type","at","sessionID","seq","by","pendingID", …}: digests, never contents. nullopt: events of
// this type are not audited.
[[nodiscard]] std::optional<std::string> audit_line(SessionId const& session,
                                                    session::Event const& event);

// Begins the line of a change that no event records: {"type","at","by":{"type","name"}. The caller
// adds members and ends the object.
[[nodiscard]] json::Writer begin_audit_line(std::string_view type, Time at,
                                            session::Actor const& by);

// The removed beginning of the audit log: `lines` lines up to line `through`, which had `hash`.
struct AuditTrim {
    std::uint64_t lines = 0;
    std::uint64_t through = 0;
    Sha256 hash{};
};
// {"type":"audit_trimmed","at","by","lines","through","hash"}
[[nodiscard]] std::string trimmed_line(AuditTrim const& trim, Time at, session::Actor const& by);
// nullopt: another kind of line.
[[nodiscard]] std::optional<AuditTrim> read_trimmed(std::string_view line);
// nullopt: the line has no time.
[[nodiscard]] std::optional<Time> line_time(std::string_view line);

}  // namespace dormouse::wire
