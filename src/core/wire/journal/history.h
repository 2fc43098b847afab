#pragma once
// History: the fold of a session's records into what the API shows: messages, turns, pending calls,
// receipts and who consumed them. Built for each page or request, never stored.
//
// There are two folds, because neither result contains the other: session::State is what is open,
// of bounded size, and every decision reads it; History is what there is to show of any part of a
// journal, with everything that is closed. Where both know a thing they must agree: the tests
// HistoryProperty compare them over random scenarios.

#include "session/event.h"
#include "wire/journal/record.h"

#include <map>
#include <optional>
#include <vector>

namespace dormouse::wire {

// The step that consumed a settlement (rule 6); step 0: the end of the turn did.
struct Consumed {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    Seq seq = 0;
    Time at{};
};

struct ProgressView {
    Seq seq = 0;
    std::string key;
    Json payload;
    Time at{};
};

// One generation of a pending call, or the question about an attempt in doubt.
struct PauseView {
    PendingId pending;
    session::PauseTerms terms;
    std::optional<Time> deadline;
    Time created{};
    Time started{};
    std::optional<session::Receipt> receipt;  // nullopt: waiting
    session::Submission what;                 // the settling submission; of a cancel its reason
    bool in_doubt = false;
    std::string claimed_by;
    Time claimed_until{};
    std::vector<ProgressView> progress;  // the last 20
    std::uint32_t progress_count = 0;
    std::vector<session::Vote> votes;
    std::string gate;  // set: a gate asked
    Time changed{};    // time of the newest event that names it
};

struct CallView {
    CallNo no = 0;
    TurnNo turn = 0;
    std::uint32_t step = 0;
    Seq message = 0;
    session::CallSpec spec;
    Seq started = 0;  // 0: not started
    Time started_at{};
    std::uint32_t attempts = 0;
    std::vector<PauseView> pauses;
    Seq settled = 0;  // 0: open
    Time settled_at{};
    std::optional<session::ErrorReason> error;
    std::string error_text;
    Json output;
    std::string title;
    Json metadata;
    // Gates that a standing rule answered: {gate, rule, who made it, when it answered}.
    struct ByRule {
        std::string gate;
        std::string rule;
        session::Actor by;
        Time at{};
    };
    std::vector<ByRule> by_rules;
    Seq artifact = 0;  // event of the newest artifact that it brought; 0: none
    // Values with the event from which each holds, oldest first: a request shows a call as it was
    // when first seen (rule 5).
    std::vector<std::pair<Seq, Json>> inputs;        // the model's own, then those edited by gates
    std::vector<std::pair<Seq, Json>> placeholders;  // of its pauses

    [[nodiscard]] bool waiting() const;  // one of its pauses is open
    [[nodiscard]] bool has_other_open_pause(PauseView const& pause) const;
    [[nodiscard]] Json placeholder() const;  // of the newest pause; {"status":"pending"} if none
    [[nodiscard]] Json placeholder_at(Seq seq) const;
    [[nodiscard]] Json input_at(Seq seq) const;  // REQUIRES: the call existed at `seq`
};

// A tool call of an external agent, as the agent reported it.
struct AgentToolView {
    std::string id;
    std::string title;
    session::AgentToolStatus status = session::AgentToolStatus::pending;
    bool unknown = false;  // the agent died, or never reported how it ended
    Json body;             // each member as reported last
    CallNo asked = 0;      // the newest permission asked for it; 0: none
    Time started{};
    Time changed{};
};

struct MessageView {
    Seq seq = 0;
    TurnNo turn = 0;
    bool assistant = false;
    session::InputSource source = session::InputSource::prompt;
    session::Actor by;
    Json parts;
    std::vector<CallNo> calls;
    std::vector<AgentToolView> agent_tools;
    bool by_agent = false;  // reported by an external agent; not the reply of a step
    std::optional<session::Usage> usage;
    Time created{};
    std::optional<PendingId> answers;
    Seq shown = 0;  // the event that brought it into the conversation; 0: still queued
    Seq mail = 0;   // key in mails(); 0: none
    bool dropped = false;
};

struct StepView {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    Seq view_seq = 0;
    Seq reply = 0;  // 0: not committed
    Time at{};
};

// A task that is not cleared, with its newest run.
struct TaskView {
    TaskNo no = 0;
    SessionId child = {};
    std::string agent = {};
    std::string description = {};
    Json parts = {};  // that it was started with
    session::TaskStatus status = session::TaskStatus::running;
    std::uint32_t run = 1;
    bool queued = false;
    bool gone = false;
    CallNo call = 0;
    Json result = {};
    std::string error = {};
    std::string progress = {};  // progress that the newest run has reported
    session::Actor by = {};
    Time created{};
    std::optional<Time> ended = {}, resumed = {};
};

struct TurnView {
    TurnNo no = 0;
    session::InputSource cause = session::InputSource::prompt;
    session::Actor by;
    Seq input = 0;
    std::uint32_t step = 0;
    std::uint32_t step_limit = 0;
    std::vector<Seq> messages;
    session::Usage usage;
    std::uint32_t steps = 0;
    Time created{};
    std::optional<Time> started, ended;
    Seq ended_seq = 0;
    std::optional<session::FinishReason> finish;
    std::optional<session::Trouble> error;
    std::string cancel_reason;  // given by the caller of the cancel; empty: none
    bool dropped = false;
};

// The pending calls that are visibly changed by this event.
[[nodiscard]] std::vector<PendingId> touched(session::Event const& event);

// A received mail.
struct MailView {
    session::MailReceived what;
    Time at{};
    bool released = false;
    bool expired = false;
};
// A sent mail, with the receivers to which it could not be delivered.
struct SentView {
    session::MailSent what;
    Time at{};
    std::vector<session::MailBounced> bounced;
};

class History {
public:
    explicit History(SessionId session) : session_(session) {}

    // REQUIRES: records in order. They may begin in the middle of a journal: events about unseen
    // messages and calls are skipped, and turns whose start was not seen have no input.
    void add(Record const& record);

    [[nodiscard]] std::map<Seq, MessageView> const& messages() const { return messages_; }
    [[nodiscard]] std::map<TurnNo, TurnView> const& turns() const { return turns_; }
    [[nodiscard]] std::map<CallNo, CallView> const& calls() const { return calls_; }
    [[nodiscard]] std::vector<StepView> const& steps() const { return steps_; }
    [[nodiscard]] std::map<Seq, session::ArtifactEmitted> const& artifacts() const {
        return artifacts_;
    }
    [[nodiscard]] std::map<TaskNo, TaskView> const& tasks() const { return tasks_; }
    // Mail, by the event that received or sent it.
    [[nodiscard]] std::map<Seq, MailView> const& mails() const { return mails_; }
    [[nodiscard]] std::map<Seq, SentView> const& sent() const { return sent_; }
    [[nodiscard]] Json const& forked_messages() const { return forked_; }
    [[nodiscard]] std::optional<SessionId> forked_from() const { return forked_from_; }
    [[nodiscard]] PauseView const* pause(PendingId const& pending) const;
    [[nodiscard]] std::optional<Consumed> consumed(Seq settled) const;

    // Prepares a fork at `seq`: calls not settled by then become errors with this text.
    void close_calls_after(Seq seq, std::string const& text);

private:
    friend struct HistoryFold;
    SessionId session_;
    std::map<Seq, MessageView> messages_;
    std::map<TurnNo, TurnView> turns_;
    std::map<CallNo, CallView> calls_;
    std::vector<StepView>
        steps_;  // in the order of their requests; only the newest may be uncommitted
    std::map<Seq, session::ArtifactEmitted> artifacts_;
    std::map<TaskNo, TaskView> tasks_;
    std::map<Seq, MailView> mails_;
    std::map<Seq, SentView> sent_;
    std::map<std::string, Seq> agent_tools_;  // of the newest turn: the agent's id → its message
    std::vector<Seq> unread_;                 // mails and bounces that no request has seen
    Json forked_;
    std::optional<SessionId> forked_from_;
};

}  // namespace dormouse::wire
