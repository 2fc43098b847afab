#pragma once
// Parts of a session's history that are read without the rest, so that what a question costs does
// not depend on how long the session has lived. On the loop.

#include "door/door.h"

namespace dormouse::door {

// What one pending call needs: what made it, what was said of it, and who used its outcome.
void read_pending(runner::Runner& runner, port::Journal& journal, PendingId const& pending,
                  port::Fn<void(Result<Snapshot>)> done);

// What happened from an event on.
void read_history_from(runner::Runner& runner, SessionId session, Seq from,
                       port::Fn<void(Result<Snapshot>)> done);

// The calls that are open, whole: the open turn made them.
void read_open_calls(runner::Runner& runner, SessionId session,
                     port::Fn<void(Result<Snapshot>)> done);

}  // namespace dormouse::door
