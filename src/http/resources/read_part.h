#pragma once
// Parts of a session's history (door/read_pending.h), for handlers. See also handlers.h.

#include "http/resources/shared.h"

namespace dormouse::server {

// With all that is known of the calls that are open.
void read_open_calls(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done);

}  // namespace dormouse::server
