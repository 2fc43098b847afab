#include "session/event.h"

#include <array>

namespace dormouse::session {

namespace {

// In the order of EventChoice.
constexpr std::array<std::string_view, std::variant_size_v<EventChoice>> names{
    "session_created",
    "input_received",
    "input_dropped",
    "turn_started",
    "model_requested",
    "model_replied",
    "model_failed",
    "tool_started",
    "tool_finished",
    "tool_failed",
    "call_paused",
    "gate_asked",
    "gate_decided",
    "gate_missing",
    "gate_back",
    "submitted",
    "voted",
    "reassigned",
    "polled",
    "progressed",
    "claimed",
    "expired",
    "cancelled",
    "in_doubt",
    "note",
    "turn_ended",
    "status_changed",
    "forked",
    "session_changed",
    "session_ended",
    "session_deleted",
    "artifact_emitted",
    "repaired",
    "turn_checked",
    "turn_told",
    "deadline_near",
    "task_started",
    "task_changed",
    "task_cleared",
    "mail_sent",
    "mail_received",
    "mail_released",
    "mail_bounced",
    "agent_prompted",
    "attached",
    "detached",
    "agent_update",
    "agent_replied",
    "agent_asked",
    "agent_granted",
    "reminded",
    "mail_expired",
    "run_reported",
    "base",
    "budget_reached",
    "budget_raised",
    "redacted",
};

}  // namespace

std::string_view type_name(Event::Body const& body) { return names[body.index()]; }

std::span<std::string_view const> event_types() { return names; }

}  // namespace dormouse::session
