#pragma once
// Folding what was read from a disk. Records may be damaged in ways that no checksum shows (a
// release with a defect wrote them, or somebody's hand did): then the session is unreadable, and
// nothing else is.

#include "session/state.h"

namespace dormouse::session {

// apply(), for an event that was read. Errors: internal, when the event does not follow from the
// state; the state is of no use then.
[[nodiscard]] Result<void> replay(State& state, Event const& event);

// Whether all parts of a state that was read agree, so that commands can be decided on it. Errors:
// internal.
[[nodiscard]] Result<void> check_sound(State const& state);

}  // namespace dormouse::session
