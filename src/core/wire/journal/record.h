#pragma once
// Records: events as bytes. The `data` of a record is the event's public JSON, encoded once: the
// same bytes are stored, streamed and exported. A frame is what one append stores: a JSON array
// with one array for each event,
//   ["<type>", <time in ms>, {<data>}, <turn, 0: none>, "<activity after it, if it changed>"]
// where the last element is optional. The time of the first event counts from the Unix epoch, that
// of the others from the first event. The own id of a message or artifact follows from its seq: it
// is not stored, and added when a frame is read. Every type has version 1; an unknown type is
// refused with newer_format.

#include <dormouse/error.h>

#include "session/state.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::wire {

// An event and its public JSON. Immutable; shared by the lane, readers and pages.
struct Record {
    session::Event event;
    std::string data;
};
using RecordPtr = std::shared_ptr<Record const>;

[[nodiscard]] RecordPtr record(SessionId const& session, session::Event event);

// REQUIRES: records of this session, in order.
[[nodiscard]] std::string pack(SessionId const& session, std::vector<RecordPtr> const& records);
// REQUIRES: `frame` came from a store, which verified it. `first`: seq of its first event.
[[nodiscard]] Result<std::vector<RecordPtr>> unpack(SessionId const& session, Seq first,
                                                    std::string_view frame);

// The beginning of a journal whose older part was removed. It replaces the last removed frame and
// is an array like other frames. Its first element is
//   ["base_state", <time in ms since the Unix epoch>, {<state>}, <format of the state>]
// Then follow the events of that frame, in their places: null for each event from `first` up to the
// one before `state.head`, then the records after `state.head`. At the end follow older records
// that are still in use. Each record has its activity or null, and then its seq; its time counts
// from that of the first element. unpack() returns the records in order. REQUIRES:
// first <= state.head; `records` of both kinds, in order.
[[nodiscard]] std::string pack_base(session::State const& state, Time at, Seq first,
                                    std::vector<RecordPtr> const& records);
// The same with another content, at the time of the `frame` that it replaces.
[[nodiscard]] std::string repack_base(std::string_view frame, session::State const& state,
                                      Seq first, std::vector<RecordPtr> const& records);
// nullopt: the frame is no such beginning. newer_format: this release cannot read the state.
[[nodiscard]] Result<std::optional<session::State>> base_state(SessionId const& session,
                                                               std::string_view frame);

// The Event object of the API: {"seq","type","v","sessionID","projectID","turnID","at","data"},
// "activity" and "status" if this event changed them, and "object" if `object` (JSON) is given.
[[nodiscard]] std::string event_object(SessionId const& session, std::string_view project,
                                       Record const& record, std::string_view object = {});
// One Server-Sent Event: id, event and data lines. JSON text contains no CR or LF that could break
// a line.
[[nodiscard]] std::string sse_frame(SessionId const& session, std::string_view project,
                                    Record const& record, std::string_view object = {});

}  // namespace dormouse::wire
