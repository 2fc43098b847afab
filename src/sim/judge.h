#pragma once
// Judges what a run left behind: the store, every session's journal and every call's history.

#include "port/store.h"
#include "sim/durable.h"
#include "sim/history.h"

namespace dormouse::sim {

// Nothing is open, owed or queued: what every session comes to when nothing new is asked.
[[nodiscard]] bool at_rest(session::State const& state);

void judge_store(port::Store& store, Durable const& durable, Findings& findings);
// Rules 4 and 6, rule 15, and P2 of each session. REQUIRES: it came to rest.
void judge_sessions(Durable const& durable, Findings& findings);
// P1 between sessions: each mail comes once to each receiver, or back, and in order; each task
// ends. REQUIRES: they came to rest.
void judge_posts(Durable const& durable, Findings& findings);
void judge_histories(History const& history, Durable const& durable, Findings& findings);

}  // namespace dormouse::sim
