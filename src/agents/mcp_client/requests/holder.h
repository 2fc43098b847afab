#pragma once
// Stores in the state of a call's pause which process continues the call: the one whose connection
// the question or the task of the call is on. Pure.

#include "json/json.h"
#include "session/vocabulary.h"

#include <dormouse/id.h>

namespace dormouse::mcp_client {

// `holder`: the epoch of the process; 0: any process continues the call.
[[nodiscard]] session::PauseTerms held_by(Epoch holder, session::PauseTerms pause);
// Returns the epoch in the state of a pause; 0: there is none.
[[nodiscard]] Epoch holder_in(Json const& state);

}  // namespace dormouse::mcp_client
