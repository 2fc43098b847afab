#pragma once
// Redaction: removes the content of one message, or of one call, from everything that is stored of
// a session (docs/design/redaction.md). The events stay in their places, with a placeholder.

#include "base/scope.h"
#include "runner/runner.h"
#include "wire/redact.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::runner {

// The content to remove. One of `message`, `call`, `turn`, `item`, `set` and `alias_of` is set.
struct RedactionAsk {
    Seq message = 0;  // the event that added the message
    CallNo call = 0;
    TurnNo turn = 0;  // all its messages and calls, and the reason with which it was cancelled
    // "mail_…", "tsk_…", or the id of a message ("msg_…") or of a call in it ("prt_…") that a fork
    // or an import brought.
    std::string item = {};
    wire::SessionProperty set = wire::SessionProperty::none;
    std::string label = {};                  // with SetPart::labels: only this one
    bool at_creation = false;                // with `set`: only what a fork began with
    std::optional<SessionId> alias_of = {};  // the alias of another session in mail
    std::string reason = {};
    bool dry_run = false;
    bool forks = false;  // also removes copies in forks and in the sessions that it was forked from
};

enum class CopyKind : std::uint8_t {
    mail,  // the other side of it
    task,  // the other side of a task
    fork,  // the beginning of a fork, or what was forked
    alias  // mail that names the session by its alias
};

// Another session that holds the content.
struct RedactionCopy {
    SessionId session;
    CopyKind why = CopyKind::mail;
    std::string item;  // its name there
    Seq seq = 0;       // of the redacted event there; 0: nothing was removed
    friend bool operator==(RedactionCopy const&, RedactionCopy const&) = default;
};

// The result of a redaction; with dry_run, what it would remove.
struct RedactionReport {
    SessionId session;
    session::Redacted what;
    Seq seq = 0;  // of the redacted event; 0: nothing was removed
    Time at{};    // of that event
    std::vector<RedactionCopy> copies = {};
};

// A message in forks, or only the call of it with this callID, and with this id of its part if one
// is known.
struct ForkName {
    std::string message;
    std::string call = {};
    std::string part = {};
};

struct RedactionPlan {
    RedactionReport report;
    std::optional<session::Redact> command = {};  // nullopt: it was done before
    std::string project = {};
    // Sessions from which it is removed, too, because it is the same mail or the text of a task.
    std::vector<RedactionCopy> elsewhere = {};
    std::vector<ForkName> in_forks = {};  // names under which forks hold it
};

// Plans a redaction in one session. `by` and `now` are named in the text that takes the content's
// place. Reads the store; blocks. Errors: not_found, history_gone, session_busy (its turn is in
// progress, or it is not delivered), wrong_state (something must end first), too_large.
[[nodiscard]] Result<RedactionPlan> plan_redaction(port::Store& store, SessionId session,
                                                   RedactionAsk const& ask,
                                                   session::Actor const& by, Time now);

// On the loop.
class Redactor {
public:
    using Done = port::Fn<void(Result<RedactionReport>)>;

    // The arguments outlive this.
    Redactor(Runner& runner, port::Journal& journal) : runner_(runner), journal_(journal) {}

    // Redacts in all sessions or in none, unless the process ends in between; then a repeated
    // request does the rest. A repeated request gives the same report. Errors: those of
    // plan_redaction() and of Runner::command(); overloaded if a journal is changed in the same way
    // all the time.
    void redact(SessionId session, RedactionAsk ask, Asker asker, Done done);

private:
    struct Job;
    using JobPtr = std::shared_ptr<Job>;
    void plan(JobPtr const& job, std::size_t i);
    void planned(JobPtr const& job, std::size_t i, Result<RedactionPlan> plan);
    void search(JobPtr const& job);
    void remove(JobPtr const& job);
    void search_again(JobPtr const& job);
    void apply(JobPtr const& job, std::size_t left);
    void ask_plan(JobPtr const& job, std::size_t i, port::Fn<void(Result<RedactionPlan>)> then);
    void again(JobPtr const& job, std::size_t i);

    Runner& runner_;
    port::Journal& journal_;
    Scope scope_;
};

}  // namespace dormouse::runner
