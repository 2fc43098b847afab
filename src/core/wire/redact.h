#pragma once
// Removing the content of a message or a call from records (docs/design/redaction.md). Events stay
// in their places, with their type, times, numbers and receipts, so that every fold of the journal
// gives the same state.

#include "json/json.h"
#include "session/event.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace dormouse::wire {

// What is removed, and the text that takes its place.
struct RedactionTarget {
    // Events that added the messages, are parts of them, or have sent them as mail.
    std::set<Seq> messages = {};
    std::set<CallNo> calls = {};           // all that is known of them
    std::set<TaskNo> tasks = {};           // the same
    std::optional<PendingId> answer = {};  // the outcome that the message is
    std::string copied = {};               // id of a message that a fork or an import brought
    std::set<Seq> artifacts = {};          // of these events
    std::string placeholder = {};
};

// "[removed by alice on 2026-11-27]", by UTC.
[[nodiscard]] std::string redaction_placeholder(session::Actor const& by, Time at);

// The event without the content; nullopt: it holds none.
[[nodiscard]] std::optional<session::Event> redacted(session::Event const& event,
                                                     RedactionTarget const& target);

// The message with this id among those that a fork or an import brought; a view that does not
// exist: none has it.
[[nodiscard]] json::View copied_message(Json const& messages, std::string_view id);

// The digest of an artifact whose bytes were removed: no bytes have it.
inline constexpr Sha256 no_digest{};

}  // namespace dormouse::wire
