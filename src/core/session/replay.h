#pragma once
// Folds events read from disk. Records can be damaged in ways that no checksum shows (written by a
// defective release, or edited by hand). Then this session is unreadable; others are not affected.

#include "session/state.h"

namespace dormouse::session {

// apply(), for an event read from disk. Errors: internal, if the event does not follow from the
// state; the state is then unusable.
[[nodiscard]] Result<void> replay(State& state, Event const& event);

// Checks that all parts of a decoded state agree, so that commands can be decided on it. Errors:
// internal.
[[nodiscard]] Result<void> check_sound(State const& state);

}  // namespace dormouse::session
