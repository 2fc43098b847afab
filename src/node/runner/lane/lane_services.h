#pragma once
// The services that a runner gives to its lanes. Everything here runs on the loop.

#include "port/effects.h"
#include "port/nodes.h"
#include "runner/lane/freshness.h"
#include "runner/lane/journal_writer.h"
#include "runner/lane/loads.h"
#include "runner/lane/started_runs.h"
#include "runner/rules.h"
#include "runner/session_numbers.h"
#include "runner/submission_check.h"
#include "session/decide.h"
#include "wire/journal/record.h"

#include <span>
#include <string>
#include <vector>

namespace dormouse::runner {

class Lane;

// The settings of all sessions. They may change between two decisions.
class LaneSettings {
public:
    virtual ~LaneSettings() = default;
    [[nodiscard]] virtual session::Limits const& limits() const = 0;
    [[nodiscard]] virtual session::TraceRules tracing() const = 0;
    [[nodiscard]] virtual session::MailPolicy mail_policy(std::string const& project) const = 0;
    // Returns true if sessions of project `from` may send mail to those of project `to`.
    [[nodiscard]] virtual bool may_mail(std::string const& from, std::string const& to) const = 0;
};

// Time, and calls at a later time.
class LaneSchedule {
public:
    virtual ~LaneSchedule() = default;
    [[nodiscard]] virtual Time now() const = 0;
    [[nodiscard]] virtual Duration monotonic() const = 0;  // as port::Clock's
    // The runner accepts no more commands and starts no more effects.
    [[nodiscard]] virtual bool draining() const = 0;
    // Calls `work` after `delay`, unless the runner ends first.
    virtual void after(Duration delay, port::Fn<void()> work) = 0;
    // The lane needs a tick at `at`; the scan would cause it a second or two later.
    virtual void wake_soon(SessionId session, Time at) = 0;
};

// Gives the outcome of an effect to the lane of its session, which may be a new object by then.
class LaneOutcomes {
public:
    virtual ~LaneOutcomes() = default;
    virtual void offer(SessionId session, session::EffectId id, session::Command::Body outcome) = 0;
    // The same after a second, because the store failed.
    virtual void offer_later(SessionId session, session::EffectId id,
                             session::Command::Body outcome) = 0;
};

// Outbox messages of the appends.
class LaneMessages {
public:
    virtual ~LaneMessages() = default;
    // Returns outbox rows for receivers other than sessions. `records` are those of one command and
    // not yet durable; the rows go into the same append. `state` is the state after them.
    [[nodiscard]] virtual std::vector<port::OutboxRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) = 0;
    // These messages are durable.
    virtual void outbox_added(std::vector<port::OutboxRow> rows) = 0;
};

// The reports of a lane.
class LaneObserver {
public:
    virtual ~LaneObserver() = default;
    // These records of the lane are durable and part of its state().
    virtual void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) = 0;
    // Provisional text of a reply that is still coming.
    virtual void delta(SessionId session, session::AskModel const& ask,
                       port::Delta const& delta) = 0;
    // The lane is idle and may be unloaded.
    virtual void rested(SessionId session) = 0;
    // The store failed a read or an append of a lane; after fail_stop it always will (P10).
    virtual void store_failed(Error const& error) = 0;
    // The store refused an append, because the others declared this process dead.
    virtual void fenced() = 0;
    // A lane does the outstanding work of its session, which a process did that is gone.
    virtual void took_over() = 0;
};

// One object for all lanes of a runner, which outlives them, as does everything it refers to.
struct LaneServices {
    port::Entropy& entropy;
    port::Nodes const& nodes;
    port::Journal& journal;
    port::Effects& effects;
    port::AgentTerms const& agents;
    SubmissionCheck::Services checks;
    JournalWriter& writer;
    Freshness& freshness;
    Loads& loads;
    StartedRuns& runs;
    Rules& rules;
    SessionNumbers& numbers;
    LaneSettings const& settings;
    LaneSchedule& schedule;
    LaneOutcomes& outcomes;
    LaneMessages& messages;
    LaneObserver& observer;
};

}  // namespace dormouse::runner
