#pragma once
// Makes the library's objects from state and history.

#include <dormouse/runtime.h>

#include "session/decide.h"
#include "session/state.h"
#include "wire/journal/history.h"

namespace dormouse::runtime {

[[nodiscard]] PendingCall pending_call(session::Call const& call);
[[nodiscard]] SessionView session_view(session::State const& state);
[[nodiscard]] Submitted submitted(session::Answer const& answer, PendingId const& pending);
// {"digest", "receipt"} of the existing outcome, as in the HTTP interface.
[[nodiscard]] Json closed_extra(Receipt const& receipt);
[[nodiscard]] CallView call_view(wire::History const& history, wire::PauseView const& pause);
[[nodiscard]] std::vector<Message> messages(wire::History const& history);
[[nodiscard]] Event event(SessionId session, wire::Record const& record);

}  // namespace dormouse::runtime
