#pragma once
// Events: what happened, durable. State is the fold of events. One struct an alternative; the
// members of each are the fields of its public JSON (docs/reference/events.md). Messages, turns and
// receipts are named by numbers in the session (message = the event that brought it); their text
// ids are made at the edge (dormouse/id.h).

#include "session/mail.h"
#include "session/program.h"
#include "session/task.h"

#include <span>
#include <variant>

namespace dormouse::session {

// Where an input comes from.
enum class InputSource : std::uint8_t { prompt, mail, task, result, external, timer };

struct SessionCreated {
    std::string project;
    std::string agent;
    std::string alias;
    std::string title;
    std::string cwd;
    Json labels;  // object or null
    Actor by;
    std::string idem;  // digest of the request that bore an Idempotency-Key
    std::optional<Parent> parent = {};
};

// A user message. Belongs to turn `turn`, at once (steer, or an idle session) or later (queue).
struct InputReceived {
    TurnNo turn = 0;
    InputSource source = InputSource::prompt;
    PromptMode when = PromptMode::queue;
    Json parts;  // array of {"type":"text"|"image"|"file",…} (docs/reference/events.md)
    Actor by;
    // This input is the answer to that pause; the model sees it as the call's outcome.
    std::optional<PendingId> answers;
    std::string idem;
    std::uint32_t run = 0;  // of the task that this session is; 0: none
    TaskNo task = 0;        // of its own: this is the notice that its run has ended
    // On the own screen of the agent's program, which has it already: when, by the program's clock
    // (ms). 0: it was not.
    std::int64_t typed_at = 0;
    Json answer = {};   // what the program said to it while nobody listened: an array, or null
    TurnNo behind = 0;  // the turn that was open when this was queued; 0: none was
};

struct InputDropped {
    Seq input = 0;
    std::string why;
    std::string reason = {};  // as in Cancelled
};

// Opens (or, with `again`, reopens after a failure) the turn of the envelope with the message
// `input`, which says by whom.
struct TurnStarted {
    TurnNo turn = 0;
    Seq input = 0;
    InputSource cause = InputSource::prompt;
    TurnTerms terms;
    bool again = false;
};

// Intent: the model is asked; it sees everything up to `view_seq` (rule 6).
struct ModelRequested {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Seq view_seq = 0;
    Epoch epoch = 0;
};

struct ModelReplied {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    FinishReason finish = FinishReason::stop;
    Json parts;  // array of text and reasoning parts
    std::vector<CallSpec> calls;
    CallNo first_call = 0;  // number of calls[0]; the others follow
    Usage usage;
};

struct ModelFailed {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Trouble error;
    std::optional<Time> retry_at;
};

// Intent: the tool runs. The pendingID is durable before it does, and is its idempotency key on
// every attempt.
struct ToolStarted {
    PendingId pending;
    std::uint32_t attempt = 0;
    Epoch epoch = 0;
};

struct ToolFinished {
    CallNo call = 0;
    std::uint32_t attempt = 0;
    std::optional<ErrorReason> error_reason;  // nullopt: it worked
    Json output;
    std::string error;
    std::string title;
    Json metadata;
};

struct ToolFailed {
    CallNo call = 0;
    std::uint32_t attempt = 0;
    std::string error;
    Time retry_at;
};

struct CallPaused {
    PendingId pending;
    PauseTerms terms;
    std::optional<Time> deadline;
};

struct GateAsked {
    PendingId pending;
    std::string gate;
    PauseTerms terms;
    std::optional<Time> deadline;
};

struct GateDecided {
    CallNo call = 0;
    std::string gate;
    bool allowed = false;
    std::string message;        // why it was denied
    std::optional<Json> input;  // edited arguments, checked against the tool's schema
    Sha256 input_digest{};      // of them
};

// The gate whose turn it is is not there (rule 14): the call waits for it, and runs nothing.
struct GateMissing {
    CallNo call = 0;
    std::string gate;
};

// The gate that was missing, or was being asked when the runtime went down for longer than a gate
// may take, is asked anew.
struct GateBack {
    CallNo call = 0;
    std::string gate;
};

// An outcome settled a pause. Its receipt's seq is this event's.
struct Submitted {
    Receipt receipt;
    Submission what;
};

struct Voted {
    PendingId pending;
    Actor by;
    bool approved = false;
    Sha256 digest;
    Submission what;
};

// At the deadline nobody had answered, and others are asked (PauseTerms::escalate_to). The pause
// goes on under the same id.
struct Reassigned {
    PendingId pending;
    std::vector<std::string> answerers;
    std::optional<Time> deadline;
};

// The deadline comes in PauseTerms::warn_before, and nobody has answered.
struct DeadlineNear {
    PendingId pending;
    std::optional<Time> deadline;
};

// It has waited for so long that whoever is asked is told again (PauseTerms::remind_after).
struct Reminded {
    PendingId pending;
    std::uint32_t number = 0;  // 1: the first
    std::optional<Time> next;
};

struct Progressed {
    PendingId pending;
    std::string key;
    Json payload;
};

// The service that a call waits for was asked, and had no result yet. Also how often in a row it
// did not say so much.
struct Polled {
    PendingId pending;
    Time next;
    std::uint32_t failures = 0;
    std::string error;  // of the newest failure; empty: it said that it is not done
};

struct Claimed {
    PendingId pending;
    Actor by;
    Time until;
};

// At the deadline nobody had answered. `denied`: by policy that is a no; in doubt: reason unknown.
struct Expired {
    Receipt receipt;
    ErrorReason reason = ErrorReason::expired;
};

struct Cancelled {
    CallNo call = 0;
    std::optional<Receipt> receipt;  // for the generation that had a pendingID
    bool may_have_run = false;
    std::string why;
    std::string reason = {};  // that the caller gave; empty: none
};

// After a crash in mid-run the outcome is unknown (rule 3). With `question` a person is asked under
// that id.
struct InDoubt {
    PendingId pending;
    CrashPolicy policy = CrashPolicy::never;
    std::optional<PendingId> question;
    std::optional<Time> deadline;
    std::string why = {};  // empty: a crash cut the attempt off
    // Of the question: as in PauseTerms.
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
};

// Something that came too late to change anything: kept once per digest.
struct Note {
    CallNo call = 0;
    Generation generation = 0;
    std::string about;  // late_result, conflict, late_outcome
    Sha256 digest;
    std::uint32_t number = 0;  // the how many-th of this pause, from 1
    std::string text;
};

struct TurnEnded {
    TurnNo turn = 0;
    FinishReason finish = FinishReason::stop;
    Usage usage;
    std::optional<Trouble> error;
    std::string reason = {};  // of a cancel, as in Cancelled
};

struct StatusChanged {
    Lifecycle from = Lifecycle::active;
    Lifecycle to = Lifecycle::active;
    std::string why;
};

// The transcript that a fork begins with: an array of messages as GET …/messages shows them.
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
};

struct SessionEnded {
    Actor by;
};

struct SessionDeleted {
    Actor by;
};

// Bytes are kept under this event: art_<session>_<seq>. It comes before the outcome or the input
// that brought them; in a fork there is none.
struct ArtifactEmitted {
    std::string name;
    std::string mime;
    std::uint64_t bytes = 0;
    Sha256 digest{};
    CallNo call = 0;  // 0: none
};

// What stood beside the journal and did not agree with it was made anew from it: an entry for
// audits.
struct Repaired {
    std::string what;
    Actor by;
};

// The turn's interceptors let it begin. What they add comes right after it, as an input.
struct TurnChecked {};

// Its interceptors were told that this turn had ended.
struct TurnTold {
    TurnNo turn = 0;
};

// A child session is wanted. Unless it is queued its first run begins with this event.
struct TaskStarted {
    TaskNo task = 0;
    SessionId child = {};
    std::string agent = {};
    std::string description = {};
    Json parts = {};
    bool queued = false;
    bool notify = false;
    CallNo call = 0;  // the task is that call: an agent as a tool; 0: it lives until it is cleared
    Actor by = {};
    std::string idem = {};
    std::string mark = {};  // of a call that is a task (TaskAsk::mark)
    bool fork = false;      // the child begins with what was said here so far
};

struct TaskChanged {
    TaskNo task = 0;
    TaskStatus status = TaskStatus::running;
    std::uint32_t run = 0;
    Json parts = {};      // of a run that was asked for
    bool queued = false;  // … it waits for a place
    bool begins = false;  // its message leaves with this event
    bool stops = false;   // that it is not wanted any more does
    bool gone = false;    // the child's session is
    bool notify = false;  // from now on the session is to be told how the run ends
    Json result = {};
    std::string error = {};
    std::string idem = {};
    Actor by = {};              // who asked for the run
    std::string progress = {};  // what the child has told of its run
    std::string reason = {};    // of a cancel, as in Cancelled
};

// What this session, a task, tells its parent of the run that goes on.
struct RunReported {
    std::uint32_t run = 0;
    std::string text;
};

// The session has done with it, and its child ends.
struct TaskCleared {
    TaskNo task = 0;
    std::string why = {};
};

// The receivers are these, whoever has their aliases later.
struct MailSent {
    std::vector<MailTarget> to;
    std::string text;
    std::optional<MailId> reply_to;
    MailId conversation;
    std::uint32_t hops = 0;
    Wake wake = Wake::usual;
    Actor by;
    std::string idem;  // of the request that bore an Idempotency-Key
    std::optional<Time> expires = {};
};

// A user message, for the next request to the model.
struct MailReceived {
    Mail mail;
    std::uint64_t number = 0;  // in this inbox, from 1 without gaps
    MailHold hold = MailHold::none;
    std::optional<Time> until = {};  // hold minute
    std::string idem = {};
};

// They wake from now on: their minute is over, or a person says so.
struct MailReleased {
    std::vector<std::uint64_t> numbers;
    Actor by = {};
};

// Their time to live is over, and no request has seen them. Their senders are told.
struct MailExpired {
    std::vector<std::uint64_t> numbers;
};

// One that this session has sent can not be delivered to one of its receivers. Also a user message,
// for whatever is asked next: it wakes nobody.
struct MailBounced {
    Seq mail = 0;  // mail_sent
    MailTarget to;
    Trouble error;
};

// Intent: the agent's program is prompted with everything up to `view_seq`.
struct AgentPrompted {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Seq view_seq = 0;
    Epoch epoch = 0;
    std::string marker;
};

// The program has a session of its own for this one: a new one, or the one that it had.
struct AgentAttached {
    std::string acp_session;
    std::string how;        // new, load, resume
    std::string program;    // its name and version
    bool told = false;      // the past was told to it, because it had lost it
    std::string mode = {};  // in which it asks for permissions, or does not; empty: unknown
};

// The prompt that was under way has no answer: the program is gone, or refused.
struct AgentDetached {
    Trouble error;
    std::optional<Time> retry_at;   // when it is started again
    std::vector<std::string> lost;  // its tool calls whose outcome nobody knows
    bool died = false;
};

// What it told. A message, or a tool call, of the message `message`; of the event's own number when
// it begins one.
struct AgentUpdate {
    std::uint32_t attempt = 0;  // 0: after the prompt had its answer
    std::uint32_t number = 0;   // in the attempt, from 1 without gaps
    TurnNo turn = 0;
    Seq message = 0;
    News what;
};

// The prompt has its answer.
struct AgentReplied {
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    FinishReason finish = FinishReason::stop;
    Usage usage;
};

// The program asks whether it may.
struct AgentAsked {
    PendingId pending;
    CallSpec spec;
    std::uint32_t step = 0;
    Seq message = 0;  // whose tool call it is; the event's own number when it begins one
    PauseTerms terms;
    std::optional<Time> deadline;
};

// It may without a person being asked: what was allowed after it had died, once; or a tool of
// Dormouse's own.
struct AgentGranted {
    CallNo call = 0;  // that was approved; 0: none was
    std::uint32_t attempt = 0;
    std::uint32_t ask = 0;
    std::string tool_call;
    std::string own = {};  // with call 0: the program's name of the tool
};

// By retention: of what was up to `through`, which ended a turn, only what was still to be used is
// kept.
struct HistoryCut {
    Seq through = 0;
    std::uint64_t messages = 0;        // that went
    std::uint64_t artifact_bytes = 0;  // likewise
    TurnNo turn = 0;                   // the newest that went
    CallNo call = 0;                   // likewise
    Actor by;
};

using EventChoice =
    std::variant<SessionCreated, InputReceived, InputDropped, TurnStarted, ModelRequested,
                 ModelReplied, ModelFailed, ToolStarted, ToolFinished, ToolFailed, CallPaused,
                 GateAsked, GateDecided, GateMissing, GateBack, Submitted, Voted, Reassigned,
                 Polled, Progressed, Claimed, Expired, Cancelled, InDoubt, Note, TurnEnded,
                 StatusChanged, Forked, SessionChanged, SessionEnded, SessionDeleted,
                 ArtifactEmitted, Repaired, TurnChecked, TurnTold, DeadlineNear, TaskStarted,
                 TaskChanged, TaskCleared, MailSent, MailReceived, MailReleased, MailBounced,
                 AgentPrompted, AgentAttached, AgentDetached, AgentUpdate, AgentReplied, AgentAsked,
                 AgentGranted, Reminded, MailExpired, RunReported, HistoryCut>;

// One of them. Copied, moved and destroyed in event.cc: what a choice among so many makes of that
// is compiled once, not in each source.
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
    TurnNo turn = 0;                        // the open turn when it happened; 0: none
    std::optional<Activity> activity = {};  // after it, if it changed
    Body body;
};

// "model_replied": the type on the wire.
[[nodiscard]] std::string_view type_name(Event::Body const& body);
// All of them.
[[nodiscard]] std::span<std::string_view const> event_types();

}  // namespace dormouse::session
