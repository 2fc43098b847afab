#pragma once
// Deletes a session that cannot be read: uses its rows, not its state.

#include "runner/lane/lane.h"

namespace dormouse::runner {

struct DeletionServices {
    port::Journal& journal;
    JournalWriter& writer;
    Epoch epoch = 0;
    Time at{};
};

// Removes all rows of the session, as an ordinary deletion does. Its session row stays, as deleted;
// feed and audit record it. The parent of its task is notified if the first record can be read.
// Data that only the state had is lost: the session's own tasks continue, and their reports reach
// no session. `journal` and `writer` outlive the reply. Errors: not_found, and those of an append.
void delete_unreadable(DeletionServices with, SessionId session, session::Actor by,
                       Lane::Reply reply);

}  // namespace dormouse::runner
