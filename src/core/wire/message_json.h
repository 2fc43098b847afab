#pragma once
// Messages and tool parts as the API shows them (docs/reference/http.md) and as a fork begins with
// them.

#include "session/state.h"
#include "wire/journal/history.h"

#include <string>

namespace dormouse::wire {

[[nodiscard]] std::string message_object(session::State const& state, History const& history,
                                         Seq message);
// The part of its message. REQUIRES: the history has the call.
[[nodiscard]] std::string tool_part_object(session::State const& state, History const& history,
                                           CallNo call);

}  // namespace dormouse::wire
