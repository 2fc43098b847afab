#pragma once
// The `data` of each event type, written and read as event_fields.h describes it.

#include "json/json.h"
#include "session/event.h"

namespace dormouse::wire {

void write_event_data(json::Writer& out, SessionId const& session, session::Event const& event);

// nullopt: a type that this release does not know.
[[nodiscard]] std::optional<session::Event::Body> read_event_data(SessionId const& session, Seq seq,
                                                                  std::string_view type,
                                                                  json::View data);

}  // namespace dormouse::wire
