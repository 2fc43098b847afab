#pragma once
// What of a session's life stands in the audit: who decided, settled or claimed what, and when.

#include "wire/record.h"

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::wire {

// {"type","at","sessionID","seq","by","pendingID", …}: digests, never contents. nullopt: such an
// event has no line.
[[nodiscard]] std::optional<std::string> audit_line(SessionId const& session,
                                                    session::Event const& event);

// The beginning of the audit that was removed: so many lines, up to this one, whose hash it was.
struct AuditTrim {
    std::uint64_t lines = 0;
    std::uint64_t through = 0;
    Sha256 hash{};
};
// {"type":"audit_trimmed","at","by","lines","through","hash"}
[[nodiscard]] std::string trimmed_line(AuditTrim const& trim, Time at, session::Actor const& by);
// nullopt: it is another line.
[[nodiscard]] std::optional<AuditTrim> read_trimmed(std::string_view line);
// nullopt: it does not say.
[[nodiscard]] std::optional<Time> line_time(std::string_view line);

}  // namespace dormouse::wire
