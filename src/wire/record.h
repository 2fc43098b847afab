#pragma once
// Records: events as bytes. The `data` of a record is the event's public JSON, encoded once: the
// same bytes are stored, streamed and exported. A frame is what one append stores: a JSON array
// with one array an event,
//   ["<type>", <time in ms>, {<data>}, <turn, 0: none>, "<activity after it, when it changed>"]
// (the last element only when there is one). Of the first event the time counts from the Unix
// epoch, of the others from the first. The own id of a message or an artifact, which follows from
// its place, is not stored and comes back on reading. Version 1 of every type; an unknown type is
// refused with newer_format.

#include <dormouse/error.h>

#include "session/event.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::wire {

// An event and its public JSON. Immutable, shared between the lane, readers and pages.
struct Record {
    session::Event event;
    std::string data;
};
using RecordPtr = std::shared_ptr<Record const>;

[[nodiscard]] RecordPtr record(SessionId const& session, session::Event event);

// REQUIRES: records of this session, in order.
[[nodiscard]] std::string pack(SessionId const& session, std::vector<RecordPtr> const& records);
// REQUIRES: `frame` came from a store, which has checked it. `first`: the sequence number of its
// first event.
[[nodiscard]] Result<std::vector<RecordPtr>> unpack(SessionId const& session, Seq first,
                                                    std::string_view frame);

// The Event object of the API: {"seq","type","v","sessionID","projectID","turnID","at","data"} and,
// when this event changed them, "activity" and "status".
// With an `object` (JSON) also "object".
[[nodiscard]] std::string event_object(SessionId const& session, std::string_view project,
                                       Record const& record, std::string_view object = {});
// One Server-Sent Event: id, event and data lines. CR and LF can not occur in JSON text, so none
// can break it.
[[nodiscard]] std::string sse_frame(SessionId const& session, std::string_view project,
                                    Record const& record, std::string_view object = {});

}  // namespace dormouse::wire
