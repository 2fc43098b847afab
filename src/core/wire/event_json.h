#pragma once
// Writes and reads the `data` of each event type, as described in event_fields.h.

#include "json/json.h"
#include "session/event.h"

namespace dormouse::wire {

void write_event_data(json::Writer& out, SessionId const& session, session::Event const& event);

// nullopt: this release does not know the type.
[[nodiscard]] std::optional<session::Event::Body> read_event_data(SessionId const& session, Seq seq,
                                                                  std::string_view type,
                                                                  json::View data);

}  // namespace dormouse::wire
