#pragma once
// Rows that an append writes besides its events. All of them can be rebuilt from the journal.

#include "port/store.h"
#include "session/command.h"
#include "session/key.h"
#include "session/outbox_message.h"
#include "session/state.h"
#include "wire/journal/record.h"

#include <map>
#include <string>
#include <vector>

namespace dormouse::runner {

[[nodiscard]] port::PendingRow pending_row(session::PendingChange const& change);
// Data of a command that goes into the append, but into none of its events.
struct Attachments {
    std::map<CallNo, std::string> secrets = {};  // of the pauses that its calls make
    std::vector<std::string> of_reply = {};      // of the calls of a model reply, in their order
    std::vector<port::DeliveredRow> delivered = {};  // written if the command settles something
    std::optional<port::BaseRow> base = {};          // written if the history is cut
    std::optional<port::Rewrite> rewrite = {};       // written if content is removed
    std::vector<session::Redact::Quarantined> quarantined = {};  // the same
    std::optional<port::SourceFrame> source = {};                // of a fork
};
// Moves the attachments out of the command.
[[nodiscard]] Attachments take_attachments(session::Command& command);
// Moves them back, so that the command can be decided again.
void give_attachments(Attachments attachments, session::Command& command);
// Adds the rows for the command's events.
void add_attachments(Attachments const& attachments, std::vector<session::Event> const& events,
                     port::Append& append);
// Adds a row of kind "held" for each quarantined mail, so that quarantined mail can be listed.
// REQUIRES: `before` is the quarantined mail before the events, `state` is the state after them.
inline constexpr std::string_view quarantined_kind = "held";
inline constexpr std::uint32_t quarantined_n = UINT32_MAX;
[[nodiscard]] port::OutboxKey quarantine_key(SessionId session, Seq seq, std::uint32_t rewrites);
// Adds the rows of quarantined mails whose text is removed. Each has a new key, because an append
// inserts rows before it deletes any.
void add_rewritten(Attachments const& attachments, session::State const& state,
                   std::vector<session::Event> const& events, port::Append& append);
[[nodiscard]] std::vector<session::InboxItem> quarantined_in(session::State const& state);
void add_quarantined(std::vector<session::InboxItem> const& before, session::State const& state,
                     std::vector<session::Event> const& events, port::Append& append);
[[nodiscard]] port::SessionRow session_row(session::State const& state);
// The row of a message that is due at once.
[[nodiscard]] port::OutboxRow outbox_row(session::State const& state,
                                         session::OutboxMessage const& message, Time at);
// Returns true if one of the records gives the session an alias.
[[nodiscard]] bool claims_alias(std::vector<wire::RecordPtr> const& records);
[[nodiscard]] port::TurnState turn_state(session::State const& state);
// Returns the value for the row. For a session that works now it is `rest`: such sessions are due
// at time 0 in the store, which counts them by that, and a row would change twice in each turn.
[[nodiscard]] port::TurnState row_turn(session::State const& state);
// The session's row, if one of the records changes what it shows, or the stored one (nullopt: not
// known) has another turn.
[[nodiscard]] std::optional<port::SessionRow> changed_row(
    session::State const& state, std::vector<wire::RecordPtr> const& records,
    std::optional<port::TurnState> stored);

}  // namespace dormouse::runner
