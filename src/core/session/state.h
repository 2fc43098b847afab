#pragma once
// State: what is open in one session, and nothing else. Its size depends on what is open, not on
// the age of the session: settled text, arguments and outputs stay in the journal, and closed
// things are found by key. Owned by one lane; only apply() changes it.

#include "session/budget/budget.h"
#include "session/effect.h"
#include "session/event.h"

#include <algorithm>
#include <map>
#include <set>

namespace dormouse::session {

enum class CallPhase : std::uint8_t {
    ready,          // can start when a slot is free (its gates are asked first)
    gating,         // a gate is being asked
    running,        // the tool runs; tool_started is durable
    retry_wait,     // an attempt failed; the next one is scheduled
    waiting,        // paused; the outcome comes from outside
    awaiting_gate,  // its gate is not configured
};

struct Pause {
    PauseTerms terms;
    std::optional<Time> deadline;
    Time since{};
    Seq opened = 0;  // seq of call_paused, gate_asked, agent_asked or in_doubt
    bool by_gate = false;
    std::optional<Time> poll_at = {};
    Seq polled = 0;  // seq of call_paused or the newest polled event; the id of the next poll
    std::uint32_t poll_failures = 0;
    // When deadline_near is due; nullopt: already written, or never due.
    std::optional<Time> near_at = {};
    std::optional<Time> remind_at = {};
    std::uint32_t reminders = 0;  // since the current answerers were asked
    friend bool operator==(Pause const&, Pause const&) = default;
};

struct Question {  // crash policy `ask`: a person is asked how the lost attempt ended
    PendingId pending;
    Time since{};
    Seq opened = 0;
    friend bool operator==(Question const&, Question const&) = default;
};

struct Vote {
    Actor by;
    bool approved = false;
    Sha256 digest{};
    Time at{};
    friend bool operator==(Vote const&, Vote const&) = default;
};

struct ClaimState {
    Actor by;
    Time until{};
    friend bool operator==(ClaimState const&, ClaimState const&) = default;
};

struct Call {
    CallNo no = 0;
    std::uint32_t step = 0;
    CallSpec spec;
    CallPhase phase = CallPhase::ready;
    // The gate that made the arguments what they are, while those before it are asked again; it
    // counts as passed. From 1 on; 0: none.
    std::uint16_t edited_by = 0;
    std::uint32_t gates_passed = 0;
    // The answer to the gate's pause, until the gate decides.
    OptionalIndirect<Submission> decision = {};
    OptionalIndirect<Submission> resumed = {};  // the answer to the tool's own pause
    Json kept = {};                             // with `resumed`: PauseTerms::state of that pause
    Generation generation = 0;                  // of the newest pendingID
    // The open run or pause. Its generation can be older than that of a question.
    PendingId pending = {};
    std::uint32_t attempt = 0;
    Epoch epoch = 0;  // of the newest tool_started
    Time created{};
    Time started{};
    Seq outstanding_since = 0;  // gating or running: seq in the id of its effect
    OptionalIndirect<Pause> pause = {};
    bool in_doubt = false;  // A crash cut an attempt off. Stays set while the tool runs again.
    std::optional<Question> question = {};
    std::vector<Vote> votes = {};
    std::optional<ClaimState> claim = {};
    std::uint32_t progress_count = 0;
    std::int64_t progress_second = 0;      // the second in which the newest progress came
    std::uint32_t progress_in_second = 0;  // number of progress events in that second
    friend bool operator==(Call const&, Call const&) = default;
};

// A step that has open calls.
struct StepState {
    CallNo first = 0;
    std::uint32_t calls = 0;
    std::uint32_t settled = 0;
    friend bool operator==(StepState const&, StepState const&) = default;
};

struct Request {
    std::uint32_t attempt = 0;
    Seq view_seq = 0;
    Epoch epoch = 0;
    Seq since = 0;
    friend bool operator==(Request const&, Request const&) = default;
};

struct ModelRetry {
    Time at{};
    Trouble error;
    friend bool operator==(ModelRetry const&, ModelRetry const&) = default;
};

struct OpenTurn {
    TurnNo no = 0;
    // Set while its interceptors are asked: seq in the id of that effect; 0: not asked, or done.
    Seq unchecked = 0;
    Seq input = 0;
    InputSource cause = InputSource::prompt;
    Actor by;
    Time started{};
    TurnTerms terms;
    std::uint32_t run = 0;       // run of the task that this session is; 0: none
    std::uint32_t step = 0;      // newest step, requested or committed
    std::uint32_t attempt = 0;   // newest attempt of that step
    bool committed = true;       // the step has its reply
    std::uint32_t failures = 0;  // failures of that step in a row
    std::optional<Request> request = {};
    std::optional<ModelRetry> retry = {};
    std::map<std::uint32_t, StepState> open_steps = {};
    // Newest settlement, input or mail; consumed once committed_view reaches it.
    Seq newest_item = 0;
    bool steered = false;                     // overrides the joins once
    std::optional<FinishReason> finish = {};  // set when the newest reply has no tool calls
    Usage usage = {};
    // The longest mail conversation that the turn has read from.
    std::optional<Thread> thread = {};
    ExternalTurn external = {};
    TraceHeaders trace = {};  // of its input
    CallNo budget_call = 0;   // asks whether a budget is raised; 0: none
    Duration worked{};        // without the time in which all calls wait; see TurnTerms::timed
    std::vector<BudgetRaise> raised = {};  // budgets of the turn
    friend bool operator==(OpenTurn const&, OpenTurn const&) = default;
};

struct LastTurn {
    TurnNo no = 0;
    Seq input = 0;
    InputSource cause = InputSource::prompt;
    Actor by;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Usage usage;
    bool failed = false;
    std::optional<Trouble> error = {};
    std::uint32_t run = 0;
    TraceHeaders trace = {};  // of its input
    Duration worked{};
    std::vector<BudgetRaise> raised = {};
    friend bool operator==(LastTurn const&, LastTurn const&) = default;
};

// A turn whose `after` interceptors are being notified.
struct EndedTurn {
    TurnNo no = 0;
    Seq since = 0;  // seq of turn_ended
    FinishReason finish = FinishReason::stop;
    std::optional<Trouble> error = {};
    Usage usage = {};
    std::vector<std::string> after = {};
    friend bool operator==(EndedTurn const&, EndedTurn const&) = default;
};

struct QueuedInput {
    Seq seq = 0;
    TurnNo turn = 0;
    InputSource source = InputSource::prompt;
    Actor by;
    std::uint32_t run = 0;
    TaskNo task = 0;
    Json answer = {};         // InputReceived::answer
    TraceHeaders trace = {};  // InputReceived::trace
    friend bool operator==(QueuedInput const&, QueuedInput const&) = default;
};

// A mail that no committed step has seen.
struct InboxItem {
    MailId id;
    std::uint64_t number = 0;
    Seq seq = 0;  // seq of mail_received
    MailHold hold = MailHold::none;
    Time until{};  // end of the hold, for MailHold::minute
    Thread thread;
    Actor by;
    std::optional<Time> expires = {};
    TraceHeaders trace = {};  // Mail::trace
    // The value of OpenTurn::newest_item that this mail set, and the value before it.
    Seq raised = 0, before = 0;
    std::uint32_t rewrites = 0;  // redactions of it while it was quarantined
    friend bool operator==(InboxItem const&, InboxItem const&) = default;
};

// Wakes of this session by one mail conversation.
struct ConversationState {
    MailId id;
    std::uint32_t wakes = 0;
    Time minute{};  // time of the first wake counted in in_minute
    std::uint32_t in_minute = 0;
    friend bool operator==(ConversationState const&, ConversationState const&) = default;
};

// Kinds of things that fall due at a time.
enum class TimerKind : std::uint8_t {
    deadline,     // of a pause
    tool_retry,   // next attempt of a tool
    model_retry,  // next attempt of a model request or prompt
    give_up,      // time limit of an effect
    poll,         // next poll of a paused call
    near,         // deadline_near
    mail,         // a mail's hold or expiry ends
    remind        // next reminder of a pause
};
struct Timer {
    Time at{};
    TimerKind kind = TimerKind::deadline;
    CallNo call = 0;  // 0: the model request, or mail
    friend auto operator<=>(Timer const&, Timer const&) = default;
};

// The part of the journal that retention has removed: everything up to the end of a turn, except
// what was still in use then.
struct HistoryBase {
    Seq through = 0;             // 0: nothing was removed
    TurnNo turn = 0;             // newest turn removed
    CallNo call = 0;             // newest call removed
    std::uint64_t messages = 0;  // messages removed, counted in State::messages
    friend bool operator==(HistoryBase const&, HistoryBase const&) = default;
};

struct State {
    SessionId id;
    Seq head = 0;
    HistoryBase base = {};
    Seq redacted = 0;  // the newest redacted event; 0: none
    Lifecycle lifecycle = Lifecycle::none;

    std::string project, agent, alias, title, cwd;
    std::string node;        // SessionCreated::node
    std::string auto_title;  // from the first prompt; shown while `title` is empty
    Json labels;
    Actor created_by;
    std::string created_idem;  // SessionCreated::idem
    std::optional<SessionId> forked_from;
    std::uint32_t imports = 0;  // parts of an import that were added
    std::optional<Parent> parent;
    Time created{};
    Time updated{};
    std::optional<Time> ended;

    std::optional<OpenTurn> turn;
    std::optional<LastTurn> last_turn;
    std::vector<EndedTurn> unnotified;  // oldest first
    std::map<CallNo, Call> calls;       // open calls, in request order
    std::vector<QueuedInput> queue;     // oldest first
    std::map<TaskNo, Task> tasks;       // tasks that are not cleared

    TurnNo turns = 0;  // counters over the session's life
    CallNo calls_ever = 0;
    TaskNo tasks_ever = 0;
    // Messages that lists show, or showed before retention removed them. Excludes dropped prompts,
    // and mail and bounces that no request has seen.
    std::uint64_t messages = 0;
    std::uint64_t steps = 0;
    Usage usage;
    Duration worked{};                // of all turns, as OpenTurn::worked
    std::vector<BudgetRaise> raised;  // budgets of the session
    Seq committed_view = 0;           // view_seq of the newest committed step
    std::uint64_t artifact_bytes = 0;

    std::vector<InboxItem> inbox;   // oldest first
    std::uint64_t mails = 0;        // mails ever received
    Seq asked_view = 0;             // view_seq of the newest request
    std::uint64_t new_bounces = 0;  // bounces that no request has seen
    // Bounded; the one that woke the session last is last.
    std::vector<ConversationState> conversations;

    Seq agent_seen = 0;       // the external agent has surely received everything up to this event
    std::string acp_session;  // the external agent's own id of the session
    // Ids that the agent used for it before; the agent still stores them.
    std::set<std::string> acp_left;
    Cost agent_spent;                // newest AgentReplied::spent
    std::int64_t agent_typed = 0;    // newest InputReceived::typed_at
    std::vector<Time> agent_deaths;  // newest ones, oldest first
    std::optional<Trouble> trouble;  // cause of lifecycle error

    // Derived by apply() from the members above; a property test compares them with derive().
    std::set<CallNo> ready;    // phase ready
    std::set<CallNo> to_gate;  // phase ready with a gate to ask first; empty while a slot is free
    std::set<CallNo> message_pauses;  // waiting with continuation message
    std::uint32_t in_work = 0;        // number of calls in phase gating or running
    std::set<CallNo> awaiting_gate;   // phase awaiting_gate
    std::uint32_t waiting = 0;        // number of calls in phase waiting or awaiting_gate
    std::set<Timer> timers;
    std::map<std::pair<CallNo, TimerKind>, Time> timer_at;  // the same timers, by call and kind
    std::map<EffectId, Effect> outstanding;

    friend bool operator==(State const&, State const&) = default;
};

// Returns the use of the session since it was created.
[[nodiscard]] BudgetMeter meter_of(State const& state);

// Applies an event; nothing else changes a state. REQUIRES: event.seq == state.head + 1.
void apply(State& state, Event const& event);

// Outstanding effects by id. The runner starts `outstanding - running` and stops `running -
// outstanding`.
[[nodiscard]] inline std::map<EffectId, Effect> const& outstanding(State const& state) {
    return state.outstanding;
}

// Polls that are due, by id. They are not outstanding effects: a session that only polls sleeps
// between the polls.
[[nodiscard]] std::map<EffectId, Effect> due_polls(State const& state, Time now);

// The epochs under which the open runs and the open request were started.
[[nodiscard]] std::set<Epoch> intent_epochs(State const& state);

// Returns true if a driver would start or end an effect at once, whatever the time. Never true
// after a decision of a driver.
[[nodiscard]] bool stalled(State const& state);

// Returns when the session must be loaded next. nullopt: never, it sleeps. Time 0: now, because an
// effect is outstanding, a gate is not configured (each process checks again), or the driver must
// continue. Else the next timer.
[[nodiscard]] std::optional<Time> wake_at(State const& state);

// The next time at which a Tick changes something, outstanding effects aside.
[[nodiscard]] std::optional<Time> next_timer(State const& state);

[[nodiscard]] Activity activity(State const& state);

// Number of messages that lists show.
[[nodiscard]] inline std::uint64_t message_count(State const& state) {
    return state.messages - std::min(state.messages, state.base.messages);
}

// `title`, or the automatic title if it is empty. May be empty.
[[nodiscard]] inline std::string const& shown_title(State const& state) {
    return state.title.empty() ? state.auto_title : state.title;
}

// The open call of this pause or in-doubt question; nullptr: it is closed or never existed.
[[nodiscard]] Call const* open_pause(State const& state, PendingId const& pending);

// REQUIRES: a turn is open and the agent is an external agent.
[[nodiscard]] AgentContext agent_context(State const& state);

// nullptr: it has not woken this session recently.
[[nodiscard]] ConversationState const* conversation_of(State const& state,
                                                       MailId const& conversation);
// The mail has an expiry and is not sure to be read: no request has seen it, and the open turn did
// not begin with it.
[[nodiscard]] bool may_expire(State const& state, InboxItem const& item);
// The oldest mail that wakes the session; nullptr: none.
[[nodiscard]] InboxItem const* waking_mail(State const& state);

// The next gate of the call. REQUIRES: a gate of the call has not decided.
[[nodiscard]] std::string const& gate_of(Call const& call);

// The derived members of State, recomputed from the others. Used by the property test and by
// check_sound().
struct Derived {
    std::set<CallNo> ready, to_gate, message_pauses, awaiting_gate;
    std::uint32_t in_work = 0, waiting = 0;
    std::set<EffectId> outstanding;
};
[[nodiscard]] Derived derive(State const& state);

}  // namespace dormouse::session
