#pragma once
// The outbox messages that an event sends.

#include "session/outbox_message.h"
#include "session/state.h"

#include <vector>

namespace dormouse::session {

// REQUIRES: `before` is the state to which `event` is applied; `earlier` are the events before it
// in its append.
[[nodiscard]] std::vector<OutboxMessage> outbox_of(State const& before,
                                                   std::vector<Event> const& earlier,
                                                   Event const& event);

}  // namespace dormouse::session
