#pragma once
// Removes the content of a message or a call from records (docs/design/redaction.md). Events stay
// in their places, with their type, times, numbers and receipts, so that every fold of the journal
// gives the same state.

#include "json/json.h"
#include "session/state.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace dormouse::wire {

// Properties of a session that can be redacted.
enum class SessionProperty : std::uint8_t { none, title, alias, labels };

// The content to remove, and the text that takes its place.
struct RedactionTarget {
    // Events that added the messages, are parts of them, or have sent them as mail.
    std::set<Seq> messages = {};
    std::set<CallNo> calls = {};       // everything about them
    std::set<TaskNo> tasks = {};       // the same
    std::set<PendingId> answers = {};  // calls whose outcomes are the messages
    std::string copied = {};           // id of a message that a fork or an import brought
    std::string part = {};             // only this tool part of the copied message
    std::set<Seq> artifacts = {};      // of these events
    std::set<Seq> reasons = {};        // of cancellations, in these events
    SessionProperty set = SessionProperty::none;
    std::string label = {};                  // with SetPart::labels, only the value of this one
    bool at_creation = false;                // of `set` only what the session was created with
    Seq set_again = 0;                       // the first event that set it again; 0: none
    std::optional<SessionId> alias_of = {};  // the alias of this session in mail
    std::string placeholder = {};
};

// "[removed by alice on 2026-11-27]", by UTC.
[[nodiscard]] std::string redaction_placeholder(session::Actor const& by, Time at);

// The event without the content; nullopt: it holds none.
[[nodiscard]] std::optional<session::Event> redacted(session::Event const& event,
                                                     RedactionTarget const& target);

// Removes the content of the target from a state: title, alias, labels, and texts of tasks.
void redact_state(session::State& state, RedactionTarget const& target);

// Returns the copied message with this id; a missing view if there is none. A fork or an import
// copied it.
[[nodiscard]] json::View copied_message(Json const& messages, std::string_view id);

// Returns the same, or the part of it that the target names.
[[nodiscard]] json::View copied_content(Json const& messages, RedactionTarget const& target);

// Returns the ids of the message that has this part, and of the call that the part is; empty: no
// message has it, or it is not a call.
[[nodiscard]] std::pair<std::string, std::string> message_of_part(Json const& messages,
                                                                  std::string_view part);

// The digest of an artifact whose bytes were removed: no bytes have it.
inline constexpr Sha256 no_digest{};

}  // namespace dormouse::wire
