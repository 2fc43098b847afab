#pragma once
// Redaction: removes the content of one message, or of one call, from everything that is stored of
// a session (docs/design/redaction.md). The events stay in their places with a text instead.

#include "base/scope.h"
#include "runner/runner.h"

#include <memory>
#include <optional>
#include <string>

namespace dormouse::runner {

// What is to be removed. One of `message` and `call` is set.
struct RedactionAsk {
    Seq message = 0;  // the event that added the message
    CallNo call = 0;
    std::string reason = {};
    bool dry_run = false;
};

// What was removed, or with dry_run would be.
struct RedactionReport {
    SessionId session;
    session::Redacted what;
    Seq seq = 0;  // of the redacted event; 0: nothing was removed
    Time at{};    // of that event
};

struct RedactionPlan {
    RedactionReport report;
    std::optional<session::Redact> command = {};  // nullopt: it was done before
};

// Plans a redaction. `by` and `now` are named in the text that takes the content's place. Reads the
// store; blocks. Errors: not_found, history_gone, session_busy (its turn is in progress),
// wrong_state (it cannot be removed alone), too_large.
[[nodiscard]] Result<RedactionPlan> plan_redaction(port::Store& store, SessionId session,
                                                   RedactionAsk const& ask,
                                                   session::Actor const& by, Time now);

// On the loop.
class Redactor {
public:
    using Done = port::Fn<void(Result<RedactionReport>)>;

    // The arguments outlive this.
    Redactor(Runner& runner, port::Journal& journal) : runner_(runner), journal_(journal) {}

    // A repeat gives the same report. Errors: those of plan_redaction() and of Runner::command();
    // overloaded if the journal is changed in the same way all the time.
    void redact(SessionId session, RedactionAsk ask, Asker asker, Done done);

private:
    struct Job;
    void step(std::shared_ptr<Job> const& job);
    void take(std::shared_ptr<Job> const& job, RedactionPlan plan);

    Runner& runner_;
    port::Journal& journal_;
    Scope scope_;
};

}  // namespace dormouse::runner
