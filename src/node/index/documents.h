#pragma once
// The documents of an index: the fields of the first specification (docs/how-to/index-files.md).
// Pure.

#include "port/index.h"
#include "session/state.h"
#include "wire/journal/history.h"

namespace dormouse::index {

// REQUIRES: `history` has the pause.
[[nodiscard]] port::CallDocument call_document(wire::History const& history,
                                               wire::PauseView const& pause);

[[nodiscard]] port::SessionDocument session_document(session::State const& state);

}  // namespace dormouse::index
