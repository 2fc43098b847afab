#pragma once
// State: what is open in one session, and nothing else. Its size follows what is open, never how
// long the session has lived: text, arguments and outputs that are settled stay in the journal,
// what is closed is found by key. Owned by one lane and changed in place by apply() alone.

#include "session/effect.h"
#include "session/event.h"

#include <algorithm>
#include <map>
#include <set>

namespace dormouse::session {

enum class CallPhase : std::uint8_t {
    ready,       // may start when a slot is free (its gates come first)
    gating,      // a gate is being asked
    running,     // the tool runs: tool_started is durable
    retry_wait,  // an attempt failed; the next one has a time
    waiting,     // paused: its outcome comes from outside
    held,        // its gate is not there: it waits until that is
};

struct Pause {
    PauseTerms terms;
    std::optional<Time> deadline;
    Time since{};
    Seq opened = 0;  // call_paused, gate_asked or in_doubt
    bool by_gate = false;
    std::optional<Time> poll_at = {};
    Seq polled = 0;  // call_paused, or the newest polled: the id of the next poll
    std::uint32_t poll_failures = 0;
    std::optional<Time> near_at = {};  // when deadline_near is due; nullopt: it came, or never will
    std::optional<Time> remind_at = {};
    std::uint32_t reminders = 0;  // since its answerers were asked
    friend bool operator==(Pause const&, Pause const&) = default;
};

struct Question {  // policy ask: what became of an attempt that a crash cut off?
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
    std::uint32_t gates_passed = 0;
    std::optional<Submission> decision = {};  // for the gate that asked, until its verdict
    std::optional<Submission> resumed = {};   // for the tool, whose own pause it answered
    Json kept = {};                           // with that: what the pause kept for its tool
    Generation generation = 0;                // of the newest pendingID
    PendingId pending =
        {};  // of the run or pause that is open (generation may be older than a question's)
    std::uint32_t attempt = 0;
    Epoch epoch = 0;  // who wrote the newest tool_started
    Time created{};
    Time started{};
    Seq owed_since = 0;  // gating, running: the effect's id
    std::optional<Pause> pause = {};
    bool in_doubt = false;  // a crash cut an attempt off; also while it runs again
    std::optional<Question> question = {};
    std::vector<Vote> votes = {};
    std::optional<ClaimState> claim = {};
    std::uint32_t progress_count = 0;
    std::int64_t progress_second = 0;      // the second in which the newest progress came …
    std::uint32_t progress_in_second = 0;  // … and how many came in it
    friend bool operator==(Call const&, Call const&) = default;
};

// A step that still has open calls.
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
    Seq unchecked =
        0;  // its interceptors are asked: the effect's id; 0: they are not, or have been
    Seq input = 0;
    InputSource cause = InputSource::prompt;
    Actor by;
    Time started{};
    TurnTerms terms;
    std::uint32_t run = 0;       // of the task that this session is; 0: none
    std::uint32_t step = 0;      // the newest step, asked or committed
    std::uint32_t attempt = 0;   // the newest attempt of that step
    bool committed = true;       // that step has its reply
    std::uint32_t failures = 0;  // of that step, in a row
    std::optional<Request> request = {};
    std::optional<ModelRetry> retry = {};
    std::map<std::uint32_t, StepState> open_steps = {};
    Seq newest_item = 0;  // the newest settlement or steer; consumed once committed_view reaches it
    bool steered = false;                     // overrides the joins once
    std::optional<FinishReason> finish = {};  // the newest reply asked for nothing more
    Usage usage = {};
    std::optional<Thread> thread = {};  // of the longest conversation that it has read from
    ProgramTurn program = {};
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
    friend bool operator==(LastTurn const&, LastTurn const&) = default;
};

// Its interceptors are being told.
struct EndedTurn {
    TurnNo no = 0;
    Seq since = 0;  // turn_ended
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
    Json answer = {};  // InputReceived::answer
    friend bool operator==(QueuedInput const&, QueuedInput const&) = default;
};

// A mail that no committed step has seen.
struct InboxItem {
    MailId id;
    std::uint64_t number = 0;
    Seq seq = 0;  // mail_received
    MailHold hold = MailHold::none;
    Time until{};  // hold minute
    Thread thread;
    Actor by;
    std::optional<Time> expires = {};
    // The event by which the open turn has something new to see, and what was newest before.
    Seq raised = 0, before = 0;
    friend bool operator==(InboxItem const&, InboxItem const&) = default;
};

// How often a conversation has woken this session.
struct ConversationState {
    MailId id;
    std::uint32_t wakes = 0;
    Time minute{};  // began with the first wake that is counted in in_minute
    std::uint32_t in_minute = 0;
    friend bool operator==(ConversationState const&, ConversationState const&) = default;
};

// Times at which something falls due.
enum class TimerKind : std::uint8_t {
    deadline,
    tool_retry,
    model_retry,
    give_up,
    poll,
    near,
    mail,
    remind
};
struct Timer {
    Time at{};
    TimerKind kind = TimerKind::deadline;
    CallNo call = 0;  // 0: the model
    friend auto operator<=>(Timer const&, Timer const&) = default;
};

// What retention has taken out of the journal: all up to an event that ended a turn, but for what
// was still to be used then.
struct HistoryBase {
    Seq through = 0;             // 0: the journal is whole
    TurnNo turn = 0;             // the newest that is gone
    CallNo call = 0;             // likewise
    std::uint64_t messages = 0;  // that are gone, of State::messages
    friend bool operator==(HistoryBase const&, HistoryBase const&) = default;
};

struct State {
    SessionId id;
    Seq head = 0;
    HistoryBase base = {};
    Lifecycle lifecycle = Lifecycle::none;

    std::string project, agent, alias, title, cwd;
    std::string auto_title;  // of the first prompt; shown while it has no other
    Json labels;
    Actor created_by;
    std::string created_idem;  // of the request that created it, if that bore an Idempotency-Key
    std::optional<SessionId> forked_from;
    std::uint32_t imports = 0;  // parts of an import that it began with
    std::optional<Parent> parent;
    Time created{};
    Time updated{};
    std::optional<Time> ended;

    std::optional<OpenTurn> turn;
    std::optional<LastTurn> last_turn;
    std::vector<EndedTurn> untold;   // oldest first
    std::map<CallNo, Call> calls;    // open ones, in request order
    std::vector<QueuedInput> queue;  // oldest first
    std::map<TaskNo, Task> tasks;    // those that are not cleared

    TurnNo turns = 0;  // counters over the session's life
    CallNo calls_ever = 0;
    TaskNo tasks_ever = 0;
    // Those that lists show, or showed before they were cut: neither dropped prompts, nor mail and
    // bounces that no request has seen.
    std::uint64_t messages = 0;
    std::uint64_t steps = 0;
    Usage usage;
    Seq committed_view = 0;  // view_seq of the newest committed step
    std::uint64_t artifact_bytes = 0;

    std::vector<InboxItem> inbox;                  // oldest first
    std::uint64_t mails = 0;                       // that ever came
    Seq asked_view = 0;                            // view_seq of the newest request
    std::uint64_t new_bounces = 0;                 // that no request has seen
    std::vector<ConversationState> conversations;  // the newest ones; whoever woke last is last

    Seq program_seen = 0;              // view_seq of the newest prompt that it surely had
    std::string acp_session;           // the agent's program's own id of it
    std::set<std::string> acp_left;    // those that it had before, as the program's data
    std::int64_t program_typed = 0;    // InputReceived::typed_at of the newest one
    std::vector<Time> program_deaths;  // the newest ones, oldest first
    std::optional<Trouble> trouble;    // in status error: why

    // Kept by apply(), equal to what the rest of the state says (a property test recomputes them).
    std::set<CallNo> ready;    // phase ready
    std::set<CallNo> to_gate;  // phase ready, and a gate comes first; empty while a slot is free
    std::set<CallNo> message_pauses;  // waiting with continuation message
    std::uint32_t in_work = 0;        // phases gating and running
    std::set<CallNo> held;            // phase held
    std::uint32_t waiting = 0;        // phases waiting and held
    std::set<Timer> timers;
    std::map<std::pair<CallNo, TimerKind>, Time> timer_at;  // the same by whose they are
    std::map<EffectId, Effect> owed;

    friend bool operator==(State const&, State const&) = default;
};

// The only way that state changes. REQUIRES: event.seq == state.head + 1.
void apply(State& state, Event const& event);

// What the session owes, by id. The runner starts `outstanding - running` and stops `running -
// outstanding`.
[[nodiscard]] inline std::map<EffectId, Effect> const& outstanding(State const& state) {
    return state.owed;
}

// Polls of calls that wait and whose time has come, by id. Not among what is owed: a session of
// which only polls are left sleeps between them.
[[nodiscard]] std::map<EffectId, Effect> due_polls(State const& state, Time now);

// When the session must next be looked at: nullopt it sleeps, the epoch (0) something is owed or a
// gate is waited for (each process looks whether it is there), else the next time.
[[nodiscard]] std::optional<Time> wake_at(State const& state);

// The next time at which a tick would do something, owed effects aside.
[[nodiscard]] std::optional<Time> next_timer(State const& state);

[[nodiscard]] Activity activity(State const& state);

// How many messages its lists show.
[[nodiscard]] inline std::uint64_t message_count(State const& state) {
    return state.messages - std::min(state.messages, state.base.messages);
}

// That somebody gave it, or the one of its own making; perhaps empty.
[[nodiscard]] inline std::string const& shown_title(State const& state) {
    return state.title.empty() ? state.auto_title : state.title;
}

// The open call that this pause (or in-doubt question) belongs to; nullptr when that is closed or
// never was.
[[nodiscard]] Call const* open_pause(State const& state, PendingId const& pending);

// REQUIRES: the session's program is prompted.
[[nodiscard]] AgentContext agent_context(State const& state);

// nullptr: it has not woken this session lately.
[[nodiscard]] ConversationState const* conversation_of(State const& state,
                                                       MailId const& conversation);
// It has a time to live, and nothing that goes on is sure to read it: no request has seen it, and
// the open turn did not begin with it.
[[nodiscard]] bool may_expire(State const& state, InboxItem const& item);
// The oldest mail that wakes; nullptr: none does.
[[nodiscard]] InboxItem const* waking_mail(State const& state);

// The gate whose turn it is. REQUIRES: the call has one that has not decided.
[[nodiscard]] std::string const& gate_of(Call const& call);

// Rebuilds what apply() keeps beside the rest, for the property test and for verify.
struct Derived {
    std::set<CallNo> ready, to_gate, message_pauses, held;
    std::uint32_t in_work = 0, waiting = 0;
    std::set<EffectId> owed;
};
[[nodiscard]] Derived derive(State const& state);

}  // namespace dormouse::session
