#pragma once
// What of a session's life stands in the audit: who decided, settled or claimed what, and when.

#include "wire/record.h"

#include <optional>
#include <string>

namespace dormouse::wire {

// {"type","at","sessionID","seq","by","pendingID", …}: digests, never contents. nullopt: such an
// event has no line.
[[nodiscard]] std::optional<std::string> audit_line(SessionId const& session,
                                                    session::Event const& event);

}  // namespace dormouse::wire
