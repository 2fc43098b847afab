#pragma once
// Reads the part of a session's history that handlers of pending calls need. See also shared.h.

#include "http/resources/shared.h"

namespace dormouse::http {

// Reads the session with all events that its open calls need.
void read_open_calls(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done);

}  // namespace dormouse::http
