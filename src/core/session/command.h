#pragma once
// Commands: requests to a session, and the context in which they are decided (time, randomness,
// limits, and what was found by key). Together they are the whole input of decide(), which has no
// clock, no randomness and no I/O of its own.

#include "session/budget/budget.h"
#include "session/event.h"
#include "session/limits.h"
#include "session/outbox_message.h"
#include "session/standing.h"
#include "session/tracing.h"

namespace dormouse::session {

// An image or file of an input, stored as an artifact. Its id becomes the member artifactID of its
// part.
struct InputFile {
    Artifact artifact;
    std::size_t place = 0;  // offset in the text of the parts at which the part's object is closed
};

// Creates a session: empty, with a first prompt, as a fork or import, or for one call of a client.
struct Create {
    SessionId id;
    std::string project;
    std::string agent;
    std::string alias;
    std::string title;
    std::string cwd;
    Json labels;
    struct FirstPrompt {
        Json parts;
        std::vector<InputFile> files = {};  // in the order of their parts
    };
    std::optional<FirstPrompt> prompt;
    struct ForkOf {
        SessionId from;
        Seq seq = 0;
        Json messages;
        std::uint32_t message_count = 0;
        // Artifacts that the messages name, by their events in the original. The fork stores
        // copies.
        std::vector<std::pair<Seq, Artifact>> artifacts = {};
        // The newest event of the original when it was read (0: not known), with the checksum of
        // its frame, and its newest redaction. Not used by decide().
        Seq head = 0;
        std::uint64_t stamp = 0;
        Seq redacted = 0;
    };
    std::optional<ForkOf> fork;
    // A client asks people. REQUIRES: the agent is no_agent. The session holds this call and
    // completes with it.
    struct Ask {
        CallSpec call;  // its arguments are digested
        PauseTerms terms;
        Json parts;  // the question as a message
    };
    OptionalIndirect<Ask> ask = {};
};

// The first command of a lane that was loaded under a new epoch. Resolves the intents of older
// epochs (rule 3) and asks gates that are configured again.
struct Adopt {
    std::vector<std::string> missing_gates = {};  // among the gates that open calls wait for
    std::vector<Epoch> gone = {};  // of intent_epochs(): their processes work no longer
};

// Does what has become possible; writes nothing if nothing has.
struct Tick {};

// Text, images and files from a user. `when` and `answers`: rule 7.
struct Prompt {
    Json parts;
    std::optional<PromptMode> when;
    std::optional<PendingId> answers;
    bool reopen = false;
    // The prompt's text as the output of the call that it answers, and its digest as a result.
    Json answer_output;
    Sha256 answer_digest = {};
    std::vector<InputFile> files = {};  // in the order of their parts
    bool only_text = true;              // otherwise it cannot answer a call
};

// Outcome of AskModel: the reply of the model.
struct ModelReply {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    FinishReason finish = FinishReason::stop;
    Json parts;
    std::vector<CallSpec> calls;
    Usage usage;
};

// Outcome of AskModel: the request failed.
struct ModelFailure {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Trouble error;
    bool may_retry = false;
    std::optional<Duration> retry_after;  // as requested by the provider
};

// The call is done.
struct Done {
    Json output;
    std::string title = {};
    Json metadata = {};
    Attached attached = {};
};
// The result of a run of a tool. InDoubt: the tool's crash policy decides as after a crash (rule
// 3), except that a retry waits. TaskAsk: the outcome, or the wait for it, comes from the session's
// tasks.
using ToolResult = std::variant<Done, Failed, PauseTerms, InDoubt, TaskAsk>;

// Outcome of RunTool.
struct ToolOutcome {
    PendingId pending;
    std::uint32_t attempt = 0;
    ToolResult what;
    Sha256 digest = {};  // of the outcome, for a note if it comes too late
};

// Outcome of AskGate.
struct GateOutcome {
    CallNo call = 0;
    std::string gate;
    struct Allow {
        std::optional<Json> input;  // edited arguments
        Sha256 input_digest = {};
    };
    struct Deny {
        std::string message;
    };
    struct Gone {};  // no gate of that name is configured: the call waits for it (rule 14)
    std::variant<Allow, Deny, PauseTerms, Gone> what;
};

// Outcome of AskTurn. With `ended`: the interceptors were notified.
struct TurnOutcome {
    TurnNo turn = 0;
    bool ended = false;
    std::optional<std::string> refused = {};  // why the turn must not begin
    Json context = {};  // null, or the parts of a message that the model sees after the input
};

// The job that a paused call waits for has no result yet.
struct NotYet {
    std::string error = {};                    // set: the poll failed, or its answer is invalid
    std::optional<Duration> retry_after = {};  // as the service asks
};
using PollResult = std::variant<NotYet, Done, Failed, PauseTerms>;

// Outcome of PollTool. Failed: the job itself failed. PauseTerms: the job needs something else
// first, and the call waits for that under the same id.
struct PollOutcome {
    PendingId pending;
    Seq since = 0;  // seq in the id of the effect
    PollResult what;
    Sha256 digest = {};  // of the outcome, as for a submission of it
};

// An outcome for a pending call, from a person, a worker or a webhook.
struct Submit {
    PendingId pending;
    Submission what;
    std::string via;
    std::string delivery_id;
    // Digest of what the answerer was shown; nullopt: this principal need not send one.
    std::optional<Sha256> input_digest;
    Attached attached = {};
    // Files that a person attached to the answer, and the array of their parts.
    std::vector<InputFile> files = {};
    Json file_parts = {};
    // Keys under which the delivery that brought it is remembered once it settles the call, with a
    // digest of the delivery's body. Not used by decide().
    std::vector<Bits128> delivery_keys = {};
    Bits128 delivery_digest = {};
};

// Progress of an open call. `key` makes a repeat a duplicate.
struct Progress {
    PendingId pending;
    Json payload;
    std::string key;
};

// Keeps other workers away from a waiting call for some time.
struct Claim {
    PendingId pending;
    Duration time{};  // 0: releases the claim
};

// Asks other people to answer a waiting call, instead of those who were asked before.
struct Reassign {
    struct To {
        std::string name;  // of a person, or "role:…"
        // Roles that each person of this name has ("role:answer").
        std::vector<std::string> roles = {};
    };
    PendingId pending;
    std::vector<To> to;
};

// Cancels one call, the turn, or everything (rule 10).
struct Cancel {
    enum class Scope : std::uint8_t { call, turn, all };
    Scope scope = Scope::turn;
    std::optional<PendingId> pending;
    std::string reason = {};  // for people and the model; may be empty
};

// Changes the status of the session (requirement C7).
struct Move {
    enum class To : std::uint8_t { pause, resume, fail, end, retry };
    To to = To::end;
    std::string why;
};

// Changes title, alias, labels or node; nullopt: unchanged.
struct Change {
    std::optional<std::string> title;
    std::optional<std::string> alias;
    std::optional<Json> labels;
    std::optional<Seq> if_match;           // fails with 412 unless it equals the head
    bool unless_titled = false;            // keeps an existing title
    std::optional<std::string> node = {};  // SessionCreated::node
};

// Settles everything and deletes the session.
struct Delete {
    std::optional<Seq> if_match = {};  // fails with 412 unless it equals the head
    bool only_completed = false;       // fails with wrong_state in any other status
};

// An outbox message has arrived. It is applied once, in any status of the session; a repeat is a
// duplicate. One that can never be applied is refused, and its sender gets Undelivered.
struct Deliver {
    OutboxKey key;
    OutboxBody what;
    std::optional<Create::ForkOf> past = {};  // the history for a StartRun that forks
};

// Tells the sender of a message that `to` refused it for good.
struct Undelivered {
    OutboxKey key;
    SessionId to;
    OutboxBody what;
    Trouble error;
};

// Written by the lane when it rebuilds all rows of the session from its journal.
struct Repair {
    std::string what;  // description of what was wrong
};

// Removes old events from the journal. Planned on the journal whose base was `after` and whose
// newest redaction was `redacted`.
struct CutHistory {
    Seq after = 0;
    Seq redacted = 0;
    HistoryCut what;
    // The frame that replaces the removed ones, from `first` to `last`, and the artifacts of these
    // events. Not used by decide().
    Seq first = 0, last = 0;
    std::shared_ptr<std::string const> frame = {};
    std::vector<Seq> artifacts = {};
};

// Removes content (Redacted). Planned on a journal whose history began at `base`
// and whose newest redaction was `redacted`; no later frame holds what is removed.
struct Redact {
    // A stored frame with placeholders in place of the content.
    struct Rewritten {
        Seq first = 0;
        std::uint32_t count = 0;
        std::string bytes;
    };
    // A quarantined mail without its text, whose row is written again.
    struct Quarantined {
        Seq seq = 0;
        std::uint32_t rewrites = 0;  // InboxItem::rewrites before
        Time at{};
        Mail mail;
    };
    Seq base = 0;
    Seq redacted = 0;
    Redacted what;
    // Head, title, alias and labels at planning time, set only if `what` changes one of the three:
    // a later append of an open turn could still send the old value.
    Seq head = 0;
    std::string title = {}, alias = {};
    Json labels = {};
    // Not used by decide(): the frames, the events whose artifacts go, the deliveries that go, and
    // the calls of which no chat message is remembered any more.
    std::shared_ptr<std::vector<Rewritten> const> frames = {};
    std::vector<Seq> artifacts = {};
    std::vector<OutboxKey> outbox = {};
    std::vector<CallNo> calls = {};
    std::vector<Quarantined> quarantined = {};
    // The frame with which a cut journal begins, if it changes, with the artifacts up to `base`
    // that stay and the newest call that was cut off.
    std::optional<Rewritten> begin = {};
    std::vector<Seq> begin_artifacts = {};
    CallNo begin_call = 0;
};

// Mail from this session to other sessions.
struct SendMail {
    std::vector<MailTarget> to;
    std::string text;
    std::optional<MailId> reply_to = {};
    Wake wake = Wake::standard;
    std::optional<Duration> ttl = {};
};

// Mail from a person to this session.
struct TakeMail {
    Mail mail;
    std::optional<Duration> ttl = {};
};

// A further part of an import that began the session (Create::fork). Parts come in order.
struct ImportMore {
    std::uint32_t part = 0;  // from 2
    Json messages;
    std::uint32_t message_count = 0;
    std::vector<std::pair<Seq, Artifact>> artifacts = {};  // as in ForkOf
};

// Wakes the session with a mail that is on hold.
struct ReleaseMail {
    MailId mail;
};

// The external agent runs and has its own session for this one.
struct AgentAttach {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::string acp_session;
    std::string how;
    std::string program;
    bool history_repeated = false;
    std::string mode = {};  // mode of the agent's session; empty: unknown
};

// Text typed in the external agent's own terminal. `at` makes a repeat a duplicate.
struct AgentTyped {
    Json parts;           // an array of text parts
    std::int64_t at = 0;  // ms since the epoch by the agent's clock, increasing
    // The reply of the agent while no server was running: an array of text parts.
    Json answer = {};
};

// An update from the external agent.
struct AgentReport {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t number = 0;  // 0: it came after the answer
    AgentOutput what;
    bool by_itself = false;  // it came long after the answer: something else made the agent work
};

// The agent's answer to the prompt. Follows the updates numbered up to `updates`.
struct AgentReply {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t updates = 0;
    FinishReason finish = FinishReason::stop;
    Usage usage = {};
    std::optional<AgentOutput> last = {};  // the last update, sent with the answer
    Cost spent = {};  // in the whole session, as the agent reports it; empty: not reported
};

// A permission that the external agent asks for.
struct AgentAsk {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t updates = 0;
    CallSpec spec;  // REQUIRES: ask and ask_attempt are set
    PauseTerms terms;
    // Other names of the tool that gates match, besides spec.tool.
    std::vector<std::string> names = {};
    // Set for a tool of Dormouse's own, which has its own gates: no person is asked.
    std::string own = {};
    // Why a gate denies it without asking a person; empty: it is not denied.
    std::string denied = {};
};

// The prompt of the external agent failed.
struct AgentFailure {
    enum class How : std::uint8_t {
        died,     // it exited or could not be reached; it may be started again
        refused,  // trying again would give the same result
    };
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Trouble error;
    How how = How::died;
};

// The rows found by key before deciding. The lane looks up what wanted() in key.h names.
struct Found {
    std::optional<Receipt> receipt;  // of the pause that the command names, if it is closed
    std::uint32_t notes = 0;         // number of notes of that pause
    bool note_known = false;         // a note with this digest exists
    bool progress_known = false;     // progress with this key was taken
    struct Earlier {                 // what the same Idempotency-Key led to
        Seq seq = 0;
        TurnNo turn = 0;
        std::string idem;
        TaskNo task = 0;
        TurnNo behind = 0;  // InputReceived::behind
    };
    std::optional<Earlier> earlier;
    bool gone = false;   // the request was handled before, and retention removed what it led to
    bool taken = false;  // this message, or its Undelivered, was applied before
    // The sums of the day of Context::at; nullopt: not looked up, so no budget of a day is checked.
    std::optional<DayTotals> totals = {};
};

using CommandChoice =
    std::variant<Create, Adopt, Tick, Prompt, ModelReply, ModelFailure, ToolOutcome, GateOutcome,
                 TurnOutcome, PollOutcome, Submit, Progress, Claim, Reassign, Cancel, Move, Change,
                 Delete, Deliver, Undelivered, Repair, CutHistory, TaskAsk, SendMail, TakeMail,
                 ReleaseMail, AgentAttach, AgentReport, AgentReply, AgentAsk, AgentFailure,
                 ImportMore, AgentTyped, Redact>;

// One command body. Its copy, move and destructor are defined in command.cc (see EventBody).
class CommandBody : public CommandChoice {
public:
    using CommandChoice::CommandChoice;
    using CommandChoice::operator=;
    CommandBody();
    CommandBody(CommandBody const& other);
    CommandBody(CommandBody&& other) noexcept;
    CommandBody& operator=(CommandBody const& other);
    CommandBody& operator=(CommandBody&& other) noexcept;
    ~CommandBody();
};

// A request of a caller, or the outcome of an effect.
struct Command {
    using Body = CommandBody;
    Actor by{};
    std::string idem_key = {};     // hash of principal, path and Idempotency-Key; empty: none
    std::string idem_digest = {};  // digest of the request's body
    TraceHeaders trace = {};       // of the request
    Body body;
};

// Checks of a submission's values, made before it is decided.
struct Checked {
    // Null: the output fits the call's schema and the tool's validator; else an array of {pointer,
    // message}.
    Json invalid = {};
    // Why no submission can be accepted now: a tool or gate that the call returns to is not
    // configured, edited arguments are invalid, or the validator gave no answer.
    std::optional<Error> refused = {};
};

// The values that the lane adds to a command: all that decide() reads besides the state and the
// command.
struct Context {
    Time at{};        // when the command arrived
    Random random{};  // drawn for this command alone
    Epoch epoch = 0;  // epoch of this process; intents are written under it
    // True if this process drives the session. If false, the decision records the command and
    // expired deadlines, and starts no effects; the driver continues.
    bool drives = true;
    // The process that did the session's outstanding work has stopped doing it.
    bool abandoned = false;
    // The name of this process, if the session's agent stores data on its machine; else empty.
    std::string node = {};
    Limits limits = default_limits;
    TurnTerms terms = {};  // the agent's terms, for a turn that this command may start
    // When the open model request is given up, if later than its time limit. The limit of a request
    // that waits for a free slot starts when it is sent.
    std::optional<Time> model_until = {};
    // Calls whose gate has not begun, or has begun less than its time limit ago.
    std::vector<CallNo> gates_not_begun = {};
    // Number of the first session that this command creates; others follow. nullopt: there is none
    // at the moment.
    std::optional<std::uint64_t> next_session = 0;
    MailPolicy mail = {};  // of the session's project
    TraceRules tracing = {};
    // If not empty: why the agent cannot serve the project of the session or task that this command
    // creates.
    std::string refused = {};
    // Roles in which the caller may answer ("role:approve"), besides its name; nullopt: all.
    std::optional<std::vector<std::string>> roles = {};
    Found found = {};
    Checked checked = {};
    Budgets budgets = {};      // of the session's agent
    BudgetMeter counted = {};  // of this session: what Found::totals contain
    MatchingRules rules = {};  // for the question of a GateOutcome
};

}  // namespace dormouse::session
