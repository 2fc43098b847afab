#pragma once
// Handlers for the events of a project, and of a session with its tasks. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// feed.cc
void list_feed(Api& api, ExchangePtr const& x);
// Answers with the events of a session and of the tasks below it.
void list_family_events(Api& api, ExchangePtr const& x, SessionId session);

}  // namespace dormouse::http
