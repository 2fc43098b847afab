#pragma once
// Commands: what is asked of a session, and the context in which it is decided: time, randomness,
// limits, and what was found by key. Together they carry all that decide() needs, so that it has no
// clock, no chance and no I/O.

#include "session/event.h"
#include "session/limits.h"
#include "session/post.h"

namespace dormouse::session {

// An image or a file of an input, kept as an artifact. Its id becomes the member artifactID of its
// part.
struct InputFile {
    Artifact artifact;
    std::size_t place = 0;  // in the text of the parts: where the object of its part is closed
};

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
        // Those that the messages name, by their events in the original; the fork has its own
        // copies.
        std::vector<std::pair<Seq, Artifact>> artifacts = {};
    };
    std::optional<ForkOf> fork;
};

// First command of a lane that was loaded under a new epoch: gives each intent of an older one its
// verdict (rule 3), and asks anew the gates that are there again.
struct Adopt {
    std::vector<std::string> missing_gates = {};  // of those that open calls wait for
};

// Does what has become possible; writes nothing when nothing has.
struct Tick {};

struct Prompt {
    Json parts;
    std::size_t text_bytes = 0;
    std::optional<PromptMode> when;
    std::optional<PendingId> answers;
    bool reopen = false;
    // The text of the prompt as the output of the call that it may answer, and its digest as a
    // result.
    Json answer_output;
    Sha256 answer_digest = {};
    std::vector<InputFile> files = {};  // in the order of their parts
    bool only_text = true;              // else it is no answer to a call
};

struct ModelReply {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    FinishReason finish = FinishReason::stop;
    Json parts;
    std::vector<CallSpec> calls;
    Usage usage;
};

struct ModelFailure {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Trouble error;
    bool may_retry = false;
    std::optional<Duration> retry_after;  // the provider's word
};

struct ToolOutcome {
    PendingId pending;
    std::uint32_t attempt = 0;
    struct Done {
        Json output;
        std::string title;
        Json metadata;
        Attached attached = {};
    };
    struct Failed {
        std::string message;
        bool may_retry = false;  // nothing ran, or the tool is idempotent: try again later
    };
    // Nobody knows what the attempt did: the tool's crash policy decides, as if a crash had cut it
    // off (rule 3), only that a retry waits.
    struct Lost {
        std::string message;
        std::optional<Duration> retry_after = {};  // the other side's word
    };
    std::variant<Done, Failed, PauseTerms, Lost, TaskAsk> what;
    Sha256 digest = {};  // of the outcome, for a note if it comes too late
};

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
    struct Gone {};  // no gate of that name is there: the call waits for it (rule 14)
    std::variant<Allow, Deny, PauseTerms, Gone> what;
};

// Of the interceptors of a turn. Of one that has ended: they were told.
struct TurnOutcome {
    TurnNo turn = 0;
    bool ended = false;
    std::optional<std::string> refused = {};  // why it may not begin
    Json context = {};  // null, or the parts of a message that the model sees after the input
};

struct PollOutcome {
    PendingId pending;
    Seq since = 0;  // of the effect
    struct Done {
        Json output;
        std::string title;
        Json metadata;
        Attached attached = {};
    };
    struct Failed {  // the job did
        std::string message;
    };
    struct NotYet {
        std::string error = {};  // set: it could not be asked, or what it said means nothing
        std::optional<Duration> retry_after = {};  // the other side's word
    };
    std::variant<NotYet, Done, Failed> what;
    Sha256 digest = {};  // of the outcome, as for a submission of it
};

struct Submit {
    PendingId pending;
    Submission what;
    std::string via;
    std::string delivery_id;
    std::optional<Sha256>
        input_digest;  // what the answerer was shown; nullopt: not required of this principal
    Attached attached = {};
    // Under these the delivery that brought it is remembered once it has settled the call, with a
    // digest of its body. Not looked at when deciding.
    std::vector<Bits128> delivery_keys = {};
    Bits128 delivery_digest = {};
};

struct Progress {
    PendingId pending;
    Json payload;
    std::string key;
};

struct Claim {
    PendingId pending;
    Duration time{};  // 0: given back
};

struct Cancel {
    enum class Scope : std::uint8_t { call, turn, all };
    Scope scope = Scope::turn;
    std::optional<PendingId> pending;
    std::string reason = {};  // for people and the model; may be empty
};

struct Move {
    enum class To : std::uint8_t { pause, resume, fail, end, retry };
    To to = To::end;
    std::string why;
};

struct Change {
    std::optional<std::string> title;
    std::optional<std::string> alias;
    std::optional<Json> labels;
    std::optional<Seq> if_match;  // 412 unless the head is this
    bool unless_titled = false;   // a title that is there stays
};

struct Delete {
    std::optional<Seq> if_match = {};  // 412 unless the head is this
    bool only_completed = false;       // wrong_state while it is anything else
};

// A post has come. It is taken up once (applied), whatever the session is by now; a repeat is a
// duplicate; what can never be taken is refused, and its sender gets Undelivered.
struct Deliver {
    PostKey key;
    PostBody what;
    std::optional<Create::ForkOf> past = {};  // of a StartRun that forks
};

// Back to the sender: what it sent to `to` was refused for good.
struct Undelivered {
    PostKey key;
    SessionId to;
    PostBody what;
    Trouble error;
};

// Written by the lane with all rows of the session made anew from its journal.
struct Repair {
    std::string what;  // was found wrong
};

// Takes what is old out of the journal. Planned on the journal as it was after `after` (its base).
struct CutHistory {
    Seq after = 0;
    HistoryCut what;
    // What stays of the frames that go: the one in their place, from `first` to `last`, and the
    // artifacts of these events. Not looked at when deciding.
    Seq first = 0, last = 0;
    std::shared_ptr<std::string const> frame = {};
    std::vector<Seq> artifacts = {};
};

// To other sessions, in this one's name.
struct SendMail {
    std::vector<MailTarget> to;
    std::string text;
    std::optional<MailId> reply_to = {};
    Wake wake = Wake::usual;
    std::optional<Duration> ttl = {};
};

// From a person to this session.
struct TakeMail {
    Mail mail;
    std::optional<Duration> ttl = {};
};

// A mail that waits wakes now.
// What follows of an import that began the session (Create::fork), in its order.
struct ImportMore {
    std::uint32_t part = 0;  // from 2
    Json messages;
    std::uint32_t message_count = 0;
    std::vector<std::pair<Seq, Artifact>> artifacts = {};  // as ForkOf has them
};

struct ReleaseMail {
    MailId mail;
};

// The program is there and has a session of its own for this one.
struct AgentAttach {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::string acp_session;
    std::string how;
    std::string program;
    bool told = false;
    std::string mode = {};  // that the program's session is in; empty: unknown
};

// What somebody typed on the program's own screen. Offered again it is taken once: by its time.
struct AgentTyped {
    Json parts;           // an array of text parts
    std::int64_t at = 0;  // ms since the epoch, as the program says; in the order of typing
    Json answer = {};  // what the program said to it while nobody listened: an array of text parts
};

struct AgentNews {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t number = 0;  // 0: it came after the answer
    News what;
    bool by_itself = false;  // long after it: the program was set going by somebody else
};

// Stands behind the news of the numbers up to `updates`.
struct AgentReply {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t updates = 0;
    FinishReason finish = FinishReason::stop;
    Usage usage = {};
    std::optional<News> last = {};  // what it said at the end
};

struct AgentAsk {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t updates = 0;
    CallSpec spec;  // REQUIRES: ask and ask_attempt are set
    PauseTerms terms;
    std::vector<std::string> names = {};  // of the tool, by which gates know it besides spec.tool
    std::string own = {};  // a tool of Dormouse's own, which it gates itself: nobody is asked
    // Why a gate denies it without asking a person; empty: none does.
    std::string denied = {};
};

struct AgentFailure {
    enum class How : std::uint8_t {
        died,     // or could not be reached: it may be started again
        refused,  // trying again would give the same
    };
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Trouble error;
    How how = How::died;
};

// What was found by key before deciding. The lane looks up what wanted() in key.h names.
struct Found {
    std::optional<Receipt> receipt;  // of the pause that the command names, when that is closed
    std::uint32_t notes = 0;         // how many notes that pause has
    bool note_known = false;         // one with this digest is among them
    bool progress_known = false;     // progress with this key was taken
    struct Earlier {                 // what the same Idempotency-Key led to
        Seq seq = 0;
        TurnNo turn = 0;
        std::string idem;
        TaskNo task = 0;
        TurnNo behind = 0;  // InputReceived::behind
    };
    std::optional<Earlier> earlier;
    bool gone = false;   // it was taken before, and what it led to is not kept any more
    bool taken = false;  // this post, or that it could not be delivered, was taken up before
};

using CommandChoice =
    std::variant<Create, Adopt, Tick, Prompt, ModelReply, ModelFailure, ToolOutcome, GateOutcome,
                 TurnOutcome, PollOutcome, Submit, Progress, Claim, Cancel, Move, Change, Delete,
                 Deliver, Undelivered, Repair, CutHistory, TaskAsk, SendMail, TakeMail, ReleaseMail,
                 AgentAttach, AgentNews, AgentReply, AgentAsk, AgentFailure, ImportMore,
                 AgentTyped>;

// One of them; copied, moved and destroyed in command.cc, as EventBody.
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

// What a caller says, or an effect's outcome.
struct Command {
    using Body = CommandBody;
    Actor by{};
    std::string idem_key = {};     // hash of principal, path and Idempotency-Key; empty: none
    std::string idem_digest = {};  // digest of the request's body
    Body body;
};

// What the values that a submission brings are worth, found before it is decided.
struct Checked {
    // Null: the output fits the call's schema and its tool's validator; else an array of
    // {pointer, message}.
    Json invalid = {};
    // Nothing of it can be taken now: a tool or gate that the call returns to is not configured,
    // edited arguments do not fit, or the validator gave no answer.
    std::optional<Error> refused = {};
};

// What the lane adds to a command before it is decided: everything that decide() reads beside the
// state and that no caller says.
struct Context {
    Time at{};        // when the command arrived
    Random random{};  // drawn for this command alone
    Epoch epoch = 0;  // who drives; intents are written under it
    Limits limits = usual_limits;
    TurnTerms terms = {};  // the agent's terms, for a turn that this command may start
    // When the open request to the model is given up, if later than its time limit says: one that
    // waits for its turn is given up only after it was sent.
    std::optional<Time> model_until = {};
    // The number for the next session that this command starts; the others follow it.
    std::uint64_t next_session = 0;
    MailPolicy mail = {};  // of the session's project
    // If not empty: why the agent cannot serve the project of the session or task that this command
    // creates.
    std::string refused = {};
    // Roles as which the caller may answer ("role:approve"), besides its name; nullopt: all.
    std::optional<std::vector<std::string>> roles = {};
    Found found = {};
    Checked checked = {};
};

}  // namespace dormouse::session
