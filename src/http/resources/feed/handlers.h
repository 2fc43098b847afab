#pragma once
// Events of a project, and of a session with its tasks. The handlers that routes.cc names.

#include "http/resources/shared.h"

namespace dormouse::server {

// feed.cc
void list_feed(Api& api, ExchangePtr const& x);
// Of a session and the tasks below it.
void list_family_events(Api& api, ExchangePtr const& x, SessionId session);

}  // namespace dormouse::server
