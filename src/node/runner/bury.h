#pragma once
// Deleting a session that cannot be read: without its state, from nothing but its rows.

#include "runner/lane.h"

namespace dormouse::runner {

struct Burial {
    port::Journal& journal;
    JournalWriter& writer;
    Epoch epoch = 0;
    Time at{};
};

// All rows of the session go, as when it deletes itself; its row stays, as deleted; the feed and
// the audit tell of it. The parent whose task it worked on is told, if its first record can be
// read. What only its state knew is not told to others: its own tasks go on, and their reports
// reach nobody. `journal` and `writer` outlive the reply. Errors: not_found, and those of an
// append.
void bury(Burial with, SessionId session, session::Actor by, Lane::Reply reply);

}  // namespace dormouse::runner
