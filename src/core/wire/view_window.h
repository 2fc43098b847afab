#pragma once
// The part of a long journal that a request to the model needs. A view holds fewer than a thousand
// messages, so its request reads the journal backwards from the head, and no further than a place
// from which on there are a thousand.
//
// A view of the records from such a place on is the end of the view of the whole journal, because
// no call and no request is open there. The places lie about a thousand events apart, counted from
// the first one of the session: which place a request takes changes once in so many events, and
// between two changes the view only grows at its end, as providers' caches need it.

#include "session/state.h"
#include "wire/view.h"

#include <functional>
#include <span>

namespace dormouse::wire {

struct WindowRule {
    std::size_t messages_min = view_messages_max;  // that the view from a place on has
    Seq apart = 1'024;                             // events between two places
};
inline constexpr WindowRule window_rule{};

// What the state says of a journal's end.
struct JournalEnd {
    SessionId session;
    Seq head = 0;
    Seq base = 0;                     // the event up to which the journal is gone; 0: it is whole
    CallNo calls = 0;                 // State::calls_ever
    std::optional<CallNo> open = {};  // the oldest call that is open
};
[[nodiscard]] JournalEnd journal_end(session::State const& state);

// What a request with `view_seq` sees, made of the journal's newest records (without gaps, up to
// `end.head`) and of inputs before them, which `input` reads. nullopt: more records are needed.
using ReadInput = std::function<Result<RecordPtr>(Seq)>;
[[nodiscard]] Result<std::optional<session::ModelView>> view_of_newest(
    JournalEnd const& end, std::span<RecordPtr const> newest, Seq view_seq, ReadInput const& input,
    WindowRule const& rule = window_rule);

[[nodiscard]] History history_of(SessionId session, std::span<RecordPtr const> records);

}  // namespace dormouse::wire
