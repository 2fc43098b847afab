#pragma once
// Which process continues a call, because its question or its task is on a connection of that
// process: the state of the call's pause says it. Pure.

#include "json/json.h"
#include "session/vocabulary.h"

#include <dormouse/id.h>

namespace dormouse::mcp_client {

// `holder`: the epoch of the process; 0: any process continues the call.
[[nodiscard]] session::PauseTerms held_by(Epoch holder, session::PauseTerms pause);
// Returns the epoch that the state of a pause says; 0: none.
[[nodiscard]] Epoch holder_in(Json const& state);

}  // namespace dormouse::mcp_client
