#pragma once
// Posts: what a session sends to another and does not wait for. Derived from events; stored as rows
// in their append, keyed (sender, event, n), until the other's append takes them up.

#include "session/mail.h"

#include <compare>
#include <variant>

namespace dormouse::session {

// Which post: also the key under which the receiver remembers that it has it.
struct PostKey {
    SessionId from;
    Seq seq = 0;
    std::uint32_t n = 0;
    friend auto operator<=>(PostKey const&, PostKey const&) = default;
};

// To a child, from its parent: a run begins with this message. The first run makes the session.
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
    bool fork = false;  // the session begins with what its parent has said so far
    friend bool operator==(StartRun const&, StartRun const&) = default;
};

// To a child: the run is not wanted any more. `ends`: nor is the session.
struct StopRun {
    TaskNo task = 0;
    std::uint32_t run = 0;
    bool ends = false;
    std::string why = {};
    std::string reason = {};  // of a cancel
    friend bool operator==(StopRun const&, StopRun const&) = default;
};

// To a parent: what became of a run.
// The trouble of a run's turn that ended because its session did.
inline constexpr std::string_view child_gone = "task_session_gone";

struct RunEnded {
    TaskNo task = 0;
    std::uint32_t run = 0;
    FinishReason finish = FinishReason::stop;
    // What the child said last: the parts of its reply where they leave, a JSON string of their
    // text where they arrive (wire/post_json.h).
    Json said = {};
    std::string error = {};  // why it failed; empty: it did not
    bool gone = false;       // the child's session was ended or deleted
    friend bool operator==(RunEnded const&, RunEnded const&) = default;
};

// To a parent: what a run tells of itself while it goes on.
struct RunProgress {
    TaskNo task = 0;
    std::uint32_t run = 0;
    std::string text = {};
    friend bool operator==(RunProgress const&, RunProgress const&) = default;
};

// Back to the sender of a mail: nobody has read it within its time to live.
struct MailLost {
    MailId mail;
    MailTarget to;
    friend bool operator==(MailLost const&, MailLost const&) = default;
};

using PostBody = std::variant<StartRun, StopRun, RunEnded, Mail, RunProgress, MailLost>;

struct Post {
    SessionId to;
    Seq seq = 0;
    std::uint32_t n = 0;
    PostBody what;
    friend bool operator==(Post const&, Post const&) = default;
};

}  // namespace dormouse::session
