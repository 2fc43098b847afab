#pragma once
// The part of a long journal that a model request needs. A view holds fewer than a thousand
// messages, so a request reads the journal backwards from the head, to a place followed by at least
// a thousand messages.
//
// The view of the records from such a place on is the end of the view of the whole journal, because
// no call and no request is open there. Places are about a thousand events apart, counted from the
// first event of the session. So the place that requests use rarely changes, and between two
// changes the view only grows at its end, as provider caches require.

#include "session/state.h"
#include "wire/view/view.h"

#include <functional>
#include <span>

namespace dormouse::wire {

struct WindowRule {
    // Minimum number of messages in the view from a place on.
    std::size_t messages_min = view_messages_max;
    Seq apart = 1'024;  // events between two places
};
inline constexpr WindowRule window_rule{};

// The end of a journal, as the state knows it.
struct JournalEnd {
    SessionId session;
    Seq head = 0;
    Seq base = 0;                     // events up to this one were removed; 0: none
    CallNo calls = 0;                 // State::calls_ever
    std::optional<CallNo> open = {};  // the oldest open call
};
[[nodiscard]] JournalEnd journal_end(session::State const& state);

// Returns the messages that a request with `view_seq` sees, computed from the newest records of the
// journal (without gaps, up to `end.head`) and earlier inputs, which `input` reads. nullopt: needs
// more records.
using ReadInput = std::function<Result<RecordPtr>(Seq)>;
[[nodiscard]] Result<std::optional<session::ModelView>> view_of_newest(
    JournalEnd const& end, std::span<RecordPtr const> newest, Seq view_seq, ReadInput const& input,
    WindowRule const& rule = window_rule);

[[nodiscard]] History history_of(SessionId session, std::span<RecordPtr const> records);

}  // namespace dormouse::wire
