#pragma once
// Outbox messages: one-way messages between sessions. Derived from events and stored as rows in the
// same append, keyed (sender, event, n), until the receiver's append applies them.

#include "session/mail.h"

#include <compare>
#include <variant>

namespace dormouse::session {

// Identifies a message; the receiver remembers applied messages by this key.
struct OutboxKey {
    SessionId from;
    Seq seq = 0;
    std::uint32_t n = 0;
    friend auto operator<=>(OutboxKey const&, OutboxKey const&) = default;
};

// To a child, from its parent: begins a run with this message. The first run creates the session.
struct StartRun {
    TaskNo task = 0;  // of the parent
    std::uint32_t run = 1;
    std::string project = {};
    std::string agent = {};
    std::string title = {};
    std::string cwd = {};
    Json parts = {};
    Actor by = {};  // who asked the parent
    std::uint32_t depth = 1;
    bool fork = false;        // the session begins with a copy of its parent's history
    TraceHeaders trace = {};  // that its turn continues
    friend bool operator==(StartRun const&, StartRun const&) = default;
};

// To a child: the run is no longer wanted. `ends`: the session ends, too.
struct StopRun {
    TaskNo task = 0;
    std::uint32_t run = 0;
    bool ends = false;
    std::string why = {};
    std::string reason = {};  // of a cancel
    friend bool operator==(StopRun const&, StopRun const&) = default;
};

// Code of the trouble of a run's turn that ended because its session did.
inline constexpr std::string_view child_gone = "task_session_gone";

// To a parent: a run has ended.
struct RunEnded {
    TaskNo task = 0;
    std::uint32_t run = 0;
    FinishReason finish = FinishReason::stop;
    // The child's last message: the parts of its reply when sent, a JSON string of their text when
    // received (wire/outbox_json.h).
    Json reply = {};
    std::string error = {};  // why it failed; empty: it did not
    bool gone = false;       // the child session was ended or deleted
    friend bool operator==(RunEnded const&, RunEnded const&) = default;
};

// To a parent: progress of a run that continues.
struct RunProgress {
    TaskNo task = 0;
    std::uint32_t run = 0;
    std::string text = {};
    friend bool operator==(RunProgress const&, RunProgress const&) = default;
};

// To the sender of a mail: the mail expired unread.
struct MailLost {
    MailId mail;
    MailTarget to;
    friend bool operator==(MailLost const&, MailLost const&) = default;
};

using OutboxBody = std::variant<StartRun, StopRun, RunEnded, Mail, RunProgress, MailLost>;

struct OutboxMessage {
    SessionId to;
    Seq seq = 0;
    std::uint32_t n = 0;
    OutboxBody what;
    friend bool operator==(OutboxMessage const&, OutboxMessage const&) = default;
};

}  // namespace dormouse::session
