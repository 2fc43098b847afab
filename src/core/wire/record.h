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

#include "session/state.h"

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

// The beginning of a journal whose older part is gone: it stands in the place of the last frame
// that went, and is an array like other frames. Its first element is
//   ["base_state", <time in ms since the Unix epoch>, {<state>}, <format of the state>]
// The records of that frame that came after `state` keep their places in it, with null in those of
// the ones that went; behind them stand the older ones that were still to be used. Each record has
// its activity, or null, and its sequence number behind it; its time counts from the first
// element's. unpack() gives them in order. REQUIRES: first <= state.head; `records` of both kinds
// in order.
[[nodiscard]] std::string pack_base(session::State const& state, Time at, Seq first,
                                    std::vector<RecordPtr> const& records);
// nullopt: the frame is no such beginning. A state that this release can not read is newer_format.
[[nodiscard]] Result<std::optional<session::State>> base_state(SessionId const& session,
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
