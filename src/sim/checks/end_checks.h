#pragma once
// Checks the result of a run: the store, every session's journal, and every call's history.

#include "port/store.h"
#include "sim/checks/durable.h"
#include "sim/checks/history.h"

namespace dormouse::sim {

// Nothing is open, outstanding or queued: the final state of every session without new requests.
[[nodiscard]] bool is_idle(session::State const& state);

void check_store(port::Store& store, Durable const& durable, Findings& findings);
// Rules 4, 6 and 15, and P2, for each session. REQUIRES: the session is idle.
void check_sessions(Durable const& durable, Findings& findings);
// P1 between sessions: each mail reaches each receiver once and in order, or is returned; each task
// ends. REQUIRES: all sessions are idle.
void check_outbox(Durable const& durable, Findings& findings);
void check_histories(History const& history, Durable const& durable, Findings& findings);

}  // namespace dormouse::sim
