#pragma once
// Objects of the inbox.

#include "http/access/tokens.h"
#include "session/state.h"
#include "wire/journal/history.h"

#include <string>

namespace dormouse::http {

// Returns the object of a pending call with its session and agent, who started the turn, what the
// agent said, and whether the call waits for `who`. REQUIRES: the call has this pause.
[[nodiscard]] std::string inbox_object(session::State const& state, wire::History const& history,
                                       wire::PauseView const& pause, Principal const& who,
                                       Time now);
// Returns true if the call waits for a person, and `who` is asked and has not voted.
[[nodiscard]] bool waits_for(Principal const& who, wire::PauseView const& pause);

}  // namespace dormouse::http
