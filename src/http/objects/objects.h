#pragma once
// The objects of the API (docs/reference/http.md), written from state and history. One function an
// object.

#include "json/json.h"
#include "session/state.h"
#include "wire/journal/history.h"
#include "wire/message_json.h"

namespace dormouse::http {

[[nodiscard]] std::string session_object(session::State const& state);
[[nodiscard]] std::string turn_object(session::State const& state, wire::History const& history,
                                      TurnNo turn);
using wire::message_object;
// REQUIRES: the call has this pause.
[[nodiscard]] std::string pending_object(session::State const& state, wire::History const& history,
                                         wire::PauseView const& pause, Time now);
[[nodiscard]] std::string task_object(session::State const& parent, wire::TaskView const& task);
[[nodiscard]] std::string receipt_object(session::Receipt const& receipt,
                                         std::optional<wire::Consumed> const& consumed);

// Returns the current object of the event: a Session, Turn, Message, Part, PendingCall or Task, or
// null.
[[nodiscard]] std::string event_subject(session::State const& state, wire::History const& history,
                                        session::Event const& event, Time now);
using wire::tool_part_object;

// The status of a PendingCall: open, claimed, or how it ended.
enum class CallState : std::uint8_t {
    waiting,
    processing,
    completed,
    failed,
    expired,
    cancelled,
};
[[nodiscard]] CallState pending_status(wire::PauseView const& pause, Time now);

}  // namespace dormouse::http
