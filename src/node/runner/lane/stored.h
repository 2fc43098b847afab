#pragma once
// Commands to sessions of a store that no runner uses.

#include "port/store.h"
#include "runner/lane/redact/redact.h"
#include "session/decide.h"
#include "session/key.h"
#include "session/state.h"
#include "wire/journal/record.h"

#include <functional>
#include <span>
#include <vector>

namespace dormouse::runner {

// Does what LaneMessages::outgoing() does.
using OutgoingRows = std::function<std::vector<port::OutboxRow>(
    session::State const& state, std::span<wire::RecordPtr const> records,
    std::vector<session::PendingChange> const& changes)>;

// Decides the command and returns what a lane would append for it, without a snapshot; `state` is
// the state after it. Errors: those of decide().
[[nodiscard]] Result<port::Append> stored_append(session::State& state, session::Command command,
                                                 session::Context const& context,
                                                 OutgoingRows const& outgoing);

// Removes it in this one session, in one append. `copies` of the report are other sessions that
// hold it; nothing of them is changed. Blocks. Errors: those of plan_redaction() and of the store.
[[nodiscard]] Result<RedactionReport> redact_stored(port::Store& store, SessionId session,
                                                    RedactionAsk const& ask,
                                                    session::Actor const& by, Time now);

// Deletes the session, if it is completed and `head` is its newest event. Blocks. Errors: those of
// decide() and of the store.
[[nodiscard]] Result<void> delete_stored(port::Store& store, SessionId session, Seq head,
                                         session::Context const& context, session::Actor const& by,
                                         OutgoingRows const& outgoing);

}  // namespace dormouse::runner
