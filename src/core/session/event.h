#pragma once
// Events: the durable facts of a session. Its state is the fold of its events. Each struct is one
// event type; its members are the fields of the public JSON (docs/reference/events.md). Events
// refer to messages, turns and receipts by number (a message by the seq of the event that added
// it); text ids are built only at the API boundary (dormouse/id.h). Large members are stored apart:
// an Event is as large as its largest alternative, and most events are small.

#include "session/external_agent.h"
#include "session/mail.h"
#include "session/task.h"

#include <span>
#include <variant>

namespace dormouse::session {

// Origin of an input.
enum class InputSource : std::uint8_t { prompt, mail, task, result, external, timer };

struct SessionCreated {
    std::string project;
    std::string agent;
    std::string alias;
    std::string title;
    std::string cwd;
    Json labels;  // object or null
    Actor by;
    std::string idem;  // digest of the request's Idempotency-Key and body; empty: none
    OptionalIndirect<Parent> parent = {};
    // Name of the node with the external agent's files; empty: any node can run the session.
    std::string node = {};
};

// A user message. Belongs to turn `turn`: now (steer, or an idle session) or later (queue).
struct InputReceived {
    TurnNo turn = 0;
    InputSource source = InputSource::prompt;
    PromptMode when = PromptMode::queue;
    Json parts;  // array of {"type":"text"|"image"|"file",…} (docs/reference/events.md)
    Actor by;
    // The pause that this input answers; the model sees the input as the call's outcome.
    std::optional<PendingId> answers;
    std::string idem;
    std::uint32_t run = 0;  // run of the task that this session is; 0: none
    TaskNo task = 0;        // set in the notice that a run of this task has ended; 0: none
    // When it was typed in the external agent's own terminal, by the agent's clock (ms); the agent
    // has it already. 0: it was not typed there.
    std::int64_t typed_at = 0;
    // The reply of the agent while no server was running: an array of text parts, or null.
    Json answer = {};
    TurnNo behind = 0;        // the turn that was open when this input was queued; 0: none
    TraceHeaders trace = {};  // of the request or message that brought it
};

// A queued input was removed before its turn began.
struct InputDropped {
    Seq input = 0;
    std::string why;
    std::string reason = {};  // Cancelled::reason of the request that dropped it
};

// Opens turn `turn` with the message `input`, or reopens it after a failure (`again`). The message
// says who sent it.
struct TurnStarted {
    TurnNo turn = 0;
    Seq input = 0;
    InputSource cause = InputSource::prompt;
    TurnTerms terms;
    bool again = false;
};

// Intent: the model is about to be asked; it sees everything up to `view_seq` (rule 6).
struct ModelRequested {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Seq view_seq = 0;
    Epoch epoch = 0;
};

// The model answered a step. Its calls are open from now on.
struct ModelReplied {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    FinishReason finish = FinishReason::stop;
    Json parts;  // array of text and reasoning parts
    std::vector<CallSpec> calls;
    CallNo first_call = 0;  // number of calls[0]; the others follow
    Usage usage;
};

// A model request failed or was interrupted. `retry_at`: when it is repeated.
struct ModelFailed {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Trouble error;
    std::optional<Time> retry_at;
};

// Intent: the tool is about to run. The pendingID is durable before the tool runs and is its
// idempotency key on every attempt.
struct ToolStarted {
    PendingId pending;
    std::uint32_t attempt = 0;
    Epoch epoch = 0;
};

// The tool settled the call, or the call could not run (attempt 0).
struct ToolFinished {
    CallNo call = 0;
    std::uint32_t attempt = 0;
    std::optional<ErrorReason> error_reason;  // nullopt: success
    Json output;
    std::string error;
    std::string title;
    Json metadata;
};

// An attempt of a tool failed; the next one starts at `retry_at`.
struct ToolFailed {
    CallNo call = 0;
    std::uint32_t attempt = 0;
    std::string error;
    Time retry_at;
};

// The tool paused: the outcome of the call comes from outside.
struct CallPaused {
    PendingId pending;
    Indirect<PauseTerms> terms;
    std::optional<Time> deadline;
};

// A gate paused the call to ask someone; the answer returns to the gate.
struct GateAsked {
    PendingId pending;
    std::string gate;
    Indirect<PauseTerms> terms;
    std::optional<Time> deadline;
};

// A gate decided. A denial settles the call.
struct GateDecided {
    CallNo call = 0;
    std::string gate;
    bool allowed = false;
    std::string message;        // why it was denied
    std::optional<Json> input;  // edited arguments, valid under the tool's schema
    Sha256 input_digest{};      // digest of `input`
    // The standing rule that allowed it, and who made it; empty: the gate itself decided.
    std::string rule = {};
    Actor by = {};
    // It changed the arguments, which the gates before it have not seen: they are asked again.
    bool again = false;
};

// The call's next gate is not configured (rule 14). The call waits for it and runs nothing.
struct GateMissing {
    CallNo call = 0;
    std::string gate;
};

// The gate is asked again: it is configured again, it was being asked when the runtime stopped for
// longer than gate_time_limit, or it could not begin for that long.
struct GateBack {
    CallNo call = 0;
    std::string gate;
};

// An outcome settled a pause. The receipt's seq is the seq of this event.
struct Submitted {
    Receipt receipt;
    Indirect<Submission> what;
    TraceHeaders trace = {};  // of the request or message that brought it
};

// One of several required votes (AnswerTerms::need) on a pause.
struct Voted {
    PendingId pending;
    Actor by;
    bool approved = false;
    Sha256 digest;
    Indirect<Submission> what;
};

// Other people are asked: a person reassigned the call (`by`), or the deadline passed without an
// answer (PauseTerms::escalate_to). The pause keeps its id.
struct Reassigned {
    PendingId pending;
    std::vector<std::string> answerers;
    std::optional<Time> deadline;
    std::optional<Actor> by = {};  // nullopt: the deadline passed
};

// Nobody has answered, and PauseTerms::warn_before is left until the deadline.
struct DeadlineNear {
    PendingId pending;
    std::optional<Time> deadline;
};

// Nobody has answered, and the answerers are reminded (PauseTerms::remind_after).
struct Reminded {
    PendingId pending;
    std::uint32_t number = 0;  // from 1
    std::optional<Time> next;
};

// A worker reported progress of an open call. `key` makes a repeat a duplicate.
struct Progressed {
    PendingId pending;
    std::string key;
    Json payload;
};

// The service that a call waits for was polled and had no result yet. `failures` counts the polls
// in a row that failed.
struct Polled {
    PendingId pending;
    Time next;
    std::uint32_t failures = 0;
    std::string error;  // of the newest failure; empty: the service answered "not done yet"
};

// A worker claimed a waiting call until `until`; outcomes of others are still accepted.
struct Claimed {
    PendingId pending;
    Actor by;
    Time until;
};

// The deadline passed without an answer. Reason `denied`: the policy denies; `unknown`: the call
// was in doubt.
struct Expired {
    Receipt receipt;
    ErrorReason reason = ErrorReason::expired;
};

// A call, or the question about it, was cancelled. `may_have_run`: its tool had been started.
struct Cancelled {
    CallNo call = 0;
    std::optional<Receipt> receipt;  // for the generation that had a pendingID
    bool may_have_run = false;
    std::string why;
    std::string reason = {};  // given by the caller; empty: none
};

// The outcome of an attempt is unknown (rule 3). With `question`, a person is asked under that
// pendingID.
struct CallInDoubt {
    PendingId pending;
    CrashPolicy policy = CrashPolicy::never;
    std::optional<PendingId> question;
    std::optional<Time> deadline;
    std::string why = {};  // empty: a crash cut the attempt off
    // Reminders of the question, as in PauseTerms.
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
};

// An outcome that came too late to change anything. Stored once per digest.
struct Note {
    CallNo call = 0;
    Generation generation = 0;
    std::string about;  // late_result, conflict, late_outcome
    Sha256 digest;
    std::uint32_t number = 0;  // ordinal within the pause, from 1
    std::string text;
};

struct TurnEnded {
    TurnNo turn = 0;
    FinishReason finish = FinishReason::stop;
    Usage usage;
    std::optional<Trouble> error;
    std::string reason = {};  // Cancelled::reason of the cancel that ended it
};

struct StatusChanged {
    Lifecycle from = Lifecycle::active;
    Lifecycle to = Lifecycle::active;
    std::string why;
};

// The transcript with which a fork begins: an array of messages as GET …/messages returns them.
struct Forked {
    SessionId from;
    Seq seq = 0;
    Json messages;
    std::uint32_t message_count = 0;
};

struct SessionChanged {
    std::optional<std::string> title;
    std::optional<std::string> alias;
    std::optional<Json> labels;
    std::optional<std::string> node = {};  // as in SessionCreated
};

struct SessionEnded {
    Actor by;
};

struct SessionDeleted {
    Actor by;
};

// An artifact is stored under this event: art_<session>_<seq>. The event precedes the outcome or
// input that brought the bytes.
struct ArtifactEmitted {
    std::string name;
    std::string mime;
    std::uint64_t bytes = 0;
    Sha256 digest{};
    CallNo call = 0;  // 0: none. Always 0 in a fork.
};

// Data derived from the journal disagreed with it and was rebuilt. Written for audits.
struct Repaired {
    std::string what;
    Actor by;
};

// The interceptors let the turn begin. A message that they add follows as an input.
struct TurnChecked {};

// The interceptors `after` the turn have been notified of its end.
struct TurnNotified {
    TurnNo turn = 0;
};

// A task was started. Unless it is queued, its first run begins with this event.
struct TaskStarted {
    TaskNo task = 0;
    SessionId child = {};
    std::string agent = {};
    std::string description = {};
    Json parts = {};
    bool queued = false;
    bool notify = false;
    // The call that the task serves (an agent as a tool); 0: the task lives until it is cleared.
    CallNo call = 0;
    Actor by = {};
    std::string idem = {};
    std::string mark = {};    // TaskAsk::mark
    bool fork = false;        // the child begins with a copy of this session's history
    TraceHeaders trace = {};  // that the first run gets, unless it is queued
};

// A task got a new run, progress, or the end of its run.
struct TaskChanged {
    TaskNo task = 0;
    TaskStatus status = TaskStatus::running;
    std::uint32_t run = 0;
    Json parts = {};      // input of a newly requested run; null: no new run
    bool queued = false;  // the new run waits for a free slot
    bool begins = false;  // sends the run's input to the child
    bool stops = false;   // asks the child to stop the run
    bool gone = false;    // the child session no longer exists
    bool notify = false;  // the session is to be notified when the run ends
    Json result = {};
    std::string error = {};
    std::string idem = {};
    Actor by = {};              // who requested the run
    std::string progress = {};  // newest progress that the child reported
    std::string reason = {};    // Cancelled::reason of a cancel
    TraceHeaders trace = {};    // that the run gets which begins
};

// This session, a task, reports progress of its current run to its parent.
struct RunReported {
    std::uint32_t run = 0;
    std::string text;
};

// The task was removed from the session, and its child session ends.
struct TaskCleared {
    TaskNo task = 0;
    std::string why = {};
};

// The receivers are fixed here, even if their aliases move later.
struct MailSent {
    std::vector<MailTarget> to;
    std::string text;
    std::optional<MailId> reply_to;
    MailId conversation;
    std::uint32_t hops = 0;
    Wake wake = Wake::standard;
    Actor by;
    std::string idem;  // digest of the request's Idempotency-Key and body; empty: none
    std::optional<Time> expires = {};
    TraceHeaders trace = {};  // that the receivers get
};

// A mail in the inbox. The next request to the model shows it as a user message.
struct MailReceived {
    Indirect<Mail> mail;
    std::uint64_t number = 0;  // in this inbox, from 1 without gaps
    MailHold hold = MailHold::none;
    std::optional<Time> until = {};  // end of the hold, for MailHold::minute
    std::string idem = {};
};

// These mails wake the session from now on: their minute is over, or a person released them.
struct MailReleased {
    std::vector<std::uint64_t> numbers;
    Actor by = {};
};

// These mails were not read before they expired. Their senders are notified.
struct MailExpired {
    std::vector<std::uint64_t> numbers;
};

// A mail that this session sent cannot be delivered to one receiver. The next request shows it as a
// user message; it wakes nothing.
struct MailBounced {
    Seq mail = 0;  // seq of the mail_sent event
    MailTarget to;
    Trouble error;
};

// Intent: the external agent is about to be prompted with everything up to `view_seq`.
struct AgentPrompted {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Seq view_seq = 0;
    Epoch epoch = 0;
    std::string marker;
};

// The external agent opened its own session for this one: a new one, or the one it had before.
struct AgentAttached {
    std::string acp_session;
    std::string how;                // "new", "load" or "resume"
    std::string program;            // name and version of the agent
    bool history_repeated = false;  // by the prompt, because the agent had lost it
    // The agent's session mode, which decides whether it asks for permissions; empty: unknown.
    std::string mode = {};
};

// The current prompt has no answer: the agent exited or refused it.
struct AgentDetached {
    Trouble error;
    std::optional<Time> retry_at;   // when the agent is started again; nullopt: it is not
    std::vector<std::string> lost;  // titles of tool calls whose outcome is unknown
    bool died = false;
};

// An update from the external agent: part of a message, a tool call, or a plan. `message` is the
// message that it belongs to, or the seq of this event when it begins one.
struct AgentUpdate {
    std::uint32_t attempt = 0;  // 0: it came after the prompt was answered
    std::uint32_t number = 0;   // in the attempt, from 1 without gaps
    TurnNo turn = 0;
    Seq message = 0;
    AgentOutput what;
};

// The external agent answered the prompt.
struct AgentReplied {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    FinishReason finish = FinishReason::stop;
    Usage usage;
    Cost spent = {};  // AgentReply::spent
};

// A program outside asks people: the external agent for permission to run one of its tools, or a
// client (call.ask is 0) in a session without an agent.
struct AgentAsked {
    PendingId pending;
    Indirect<CallSpec> spec;
    std::uint32_t step = 0;
    Seq message = 0;  // message of the tool call; the seq of this event when it begins one
    Indirect<PauseTerms> terms;
    std::optional<Time> deadline;
};

// The external agent was allowed to run a tool without asking a person: the agent died after an
// approval and asked again (once), or the tool is Dormouse's own.
struct AgentGranted {
    CallNo call = 0;  // the approved call; 0: none
    std::uint32_t attempt = 0;
    std::uint32_t ask = 0;
    std::string tool_call;
    std::string own = {};  // with call 0: the agent's name of the tool
};

// A budget is used up: people are asked under this pendingID whether it is raised, and the model is
// not asked meanwhile. `spec` describes the budget (CallSpec::budget); the model never sees the
// call.
struct BudgetReached {
    PendingId pending;
    Indirect<CallSpec> spec;
    std::uint32_t step = 0;  // newest step of the turn
    Seq message = 0;         // the turn's input
    Indirect<PauseTerms> terms;
    std::optional<Time> deadline;
};

// A person raised the budget that the call asked about.
struct BudgetRaised {
    CallNo call = 0;
    BudgetRaise what;
    Actor by;
};

// Retention removed the journal up to `through`, the end of a turn. Records that were still in use
// then are kept.
struct HistoryCut {
    Seq through = 0;
    std::uint64_t messages = 0;        // number of messages removed
    std::uint64_t artifact_bytes = 0;  // bytes of artifacts removed
    TurnNo turn = 0;                   // newest turn removed
    CallNo call = 0;                   // newest call removed
    Actor by;
};

// The content of a message, a call or a turn, or a property of the session (title, alias, labels),
// was removed: the earlier records that held it have a placeholder. This event counts what was
// removed, so that a repeated request gets the same answer.
struct Redacted {
    Seq message = 0;  // seq of the event that added the message; 0: something else
    CallNo call = 0;
    TurnNo turn = 0;  // a turn with everything in it
    // "title", "alias", "labels" or "label <key>" of the session; with " at creation": only what a
    // fork began with.
    std::string what = {};
    std::string reason;
    // The session's automatic title from now on; nullopt: unchanged.
    OptionalIndirect<std::string> title = {};
    // The session's title, alias and labels from now on; nullopt: unchanged.
    OptionalIndirect<std::string> set_title = {};
    OptionalIndirect<std::string> alias = {};
    OptionalIndirect<Json> labels = {};
    std::vector<TaskNo> tasks = {};     // tasks of the session, whose texts are `text` from now on
    std::vector<Seq> quarantined = {};  // mail_received events of quarantined mails
    std::string text = {};              // the placeholder, if there are `tasks`
    std::uint32_t events = 0;           // records that were changed
    std::uint64_t bytes = 0;            // of the content in them
    std::uint32_t artifacts = 0;
    std::uint64_t artifact_bytes = 0;
    std::uint32_t deliveries = 0;  // webhooks and notifications
    Actor by;
};

using EventChoice = std::variant<
    SessionCreated, InputReceived, InputDropped, TurnStarted, ModelRequested, ModelReplied,
    ModelFailed, ToolStarted, ToolFinished, ToolFailed, CallPaused, GateAsked, GateDecided,
    GateMissing, GateBack, Submitted, Voted, Reassigned, Polled, Progressed, Claimed, Expired,
    Cancelled, CallInDoubt, Note, TurnEnded, StatusChanged, Forked, SessionChanged, SessionEnded,
    SessionDeleted, ArtifactEmitted, Repaired, TurnChecked, TurnNotified, DeadlineNear, TaskStarted,
    TaskChanged, TaskCleared, MailSent, MailReceived, MailReleased, MailBounced, AgentPrompted,
    AgentAttached, AgentDetached, AgentUpdate, AgentReplied, AgentAsked, AgentGranted, Reminded,
    MailExpired, RunReported, HistoryCut, BudgetReached, BudgetRaised, Redacted>;

// One event body. Its copy, move and destructor are defined in event.cc, so that this large variant
// is instantiated once and not in each source file.
class EventBody : public EventChoice {
public:
    using EventChoice::EventChoice;
    using EventChoice::operator=;
    EventBody();
    EventBody(EventBody const& other);
    EventBody(EventBody&& other) noexcept;
    EventBody& operator=(EventBody const& other);
    EventBody& operator=(EventBody&& other) noexcept;
    ~EventBody();
};

struct Event {
    using Body = EventBody;
    Seq seq = 0;
    Time at{};
    TurnNo turn = 0;                        // the turn that was open when it happened; 0: none
    std::optional<Activity> activity = {};  // new activity, if this event changed it
    Body body;
};

// Wire name of the type, such as "model_replied".
[[nodiscard]] std::string_view type_name(Event::Body const& body);
// The receipt of the pause that the event settles; nullptr: it settles none.
[[nodiscard]] Receipt const* receipt_in(Event const& event);
// Wire names of all types.
[[nodiscard]] std::span<std::string_view const> event_types();

}  // namespace dormouse::session
