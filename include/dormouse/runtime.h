#pragma once
// Runtime: durable sessions inside a program.
//
//     auto runtime = dormouse::Runtime::open({.store = "ops", .agents = {…}, .tools = {deploy}});
//     if (!runtime) return report(runtime.error());
//     auto session = runtime->create({.agent = "ops", .prompt = "Deploy the shop."});
//
// Most operations have two forms. One blocks until its effect is durable. The other takes a
// completion as its last argument, which is called once, on a callback thread, and may block. Both
// may be called from any thread, also from tools and completions. An operation that has returned
// survives the end of the program: the next process that opens the store continues.
//
// Threads: the program's code runs on two pools, never on the threads that the sessions need.
//   tool threads      functions of tools, gates, validators, interceptors, authorizers, models
//   callback threads  completions and observers, unless Settings::executor runs them
// A thread that waits in an operation of the runtime lends its place to another one, up to
// `tool_threads_max`. The library's threads block all signals except those of faults and SIGPROF:
// handlers run on the program's own threads, and a child process that a tool starts inherits the
// blocked mask unless the tool sets one. A process that has a Runtime must not fork without exec:
// the child would share the store's lock and have none of the threads.
//
// Exceptions: an exception of the program's code never leaves the thread that runs it. A tool that
// throws has failed, a gate denies, an interceptor or a model ends the turn, a validator refuses
// the result, an authorizer forbids, a callback_url() is empty; an exception of a completion or an
// observer goes to Settings::log.

#include <dormouse/gate.h>
#include <dormouse/model.h>
#include <dormouse/tool.h>
#include <dormouse/turn.h>
#include <dormouse/vocabulary.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

struct AgentSettings {
    std::string name;
    Model model;
    std::string instructions = {};  // system prompt of the model
    // Names of registered tools; "agent:NAME", which asks that agent (input: its prompt; output:
    // its last message; each call has a session of its own, see SessionView::children); and
    // background_task, background_output, background_resume, background_cancel, background_clear,
    // background_list.
    std::vector<std::string> tools = {};
    std::string description = {};        // shown to agents that may call "agent:NAME"
    std::uint32_t step_limit = 50;       // requests to the model in one turn, over all its pauses
    std::uint32_t tool_concurrency = 8;  // tools of one session that run at once
};

// A pending call.
struct PendingCall {
    PendingId id = {};
    std::string tool = {};
    Json input = {};
    std::string input_digest = {};  // "sha256:…"; a decision may name it
    PauseReason reason = PauseReason::tool_result;
    std::string gate = {};     // the gate that asks; empty: none
    bool in_doubt = false;     // asks what an attempt did that a crash interrupted
    std::string message = {};  // for people
    Json form = {};            // JSON Schema of the form, or null
    Json placeholder = {};
    std::string external_ref = {};
    std::string webhook_url = {};  // notified when the call ends
    Time since = {};
    std::optional<Time> deadline = {};
};

// An operation that an Authorizer allows or refuses. `resume` is an outcome of a call; the last
// three concern a session.
enum class Operation : std::uint8_t {
    resume,
    progress,
    cancel,
    message,
    create_session,
    pause_session,
    resume_session,
};
// Checks an operation. `call` is the pending call, or only its id if it is closed or unknown. For
// an operation on a session only the session in the id is set, for create_session nothing. An error
// is the caller's answer, and reveals nothing about the call. Runs on a tool thread; an exception
// forbids.
using Authorizer = std::function<Result<void>(Operation operation, std::string const& by,
                                              PendingCall const& call)>;

// Runs `work` once, soon, on any thread but the calling one; on that one too if it may block. Work
// may still be run after the runtime has ended.
using Executor = std::function<void(std::function<void()> work)>;

struct Settings {
    // A directory, created if it does not exist; ":memory:" stores nothing; or the URL of a
    // PostgreSQL database: "postgres://USER@HOST:PORT/DATABASE?schema=NAME". One process at a time
    // uses a directory. Several may share a database, if all have the same agents, tools and gates:
    // any of them answers, and the sessions of one that is killed continue in the others, after
    // about six seconds. `dormouse serve` shares it in the same way.
    std::string store = "dormouse";
    std::vector<AgentSettings> agents = {};
    std::vector<ToolPtr> tools = {};
    std::vector<Gate> gates = {};
    std::vector<TurnInterceptor> turns = {};  // the first one registered is outermost
    Authorizer authorize = {};
    // Makes a call's callback_url(), on a tool thread. Empty: calls have none unless the runtime
    // serves HTTP.
    std::function<std::string(PendingId const&)> callback_url = {};
    // Tool threads that run at once; at least 1.
    std::size_t tool_threads = 4;
    // Limit for tool threads including those that wait in an operation of the runtime. If all of
    // them wait, the work that they wait for may have to wait too. At least tool_threads is used.
    std::size_t tool_threads_max = 64;
    // Completions and observers that run at once; at least 1. Threads are started as needed.
    std::size_t callback_threads = 16;
    // Runs completions and observers instead of callback threads; empty: callback threads do. If it
    // throws, that is logged and a callback thread runs the work.
    Executor executor = {};
    // Receives a line for each error that has no other receiver: an exception of a completion or an
    // observer. Called from any thread, one line at a time; must not block for long. Empty: no log.
    std::function<void(std::string_view line)> log = {};
    // Sessions kept in memory; idle ones beyond it are unloaded, busy ones are not.
    std::size_t resident_sessions = 16'384;
    // An idle session leaves memory after this time; at least 1 ms. It is read again when needed.
    Duration resident_time{10'000};
    // Deletes sessions this long after they completed; nullopt: never.
    std::optional<Duration> completed_after = {};
};

struct NewSession {
    std::string agent;                               // a name of Settings::agents
    std::string prompt = {};                         // at most 1 MiB; empty: none yet
    std::string project = "default";                 // 1 to 64 letters, digits, "_", "." and "-"
    std::string title = {};                          // at most 1,000 bytes
    std::map<std::string, std::string> labels = {};  // at most 64
    // Idempotency key: the same key returns the same session; a different request under it is an
    // error.
    std::string key = {};
    std::string by = "program";  // who asks, for the journal and the authorizer; also below
};

// A call that the program makes itself: people, or a job outside, settle it, and no agent works for
// it. It is the only call of its session, which completes with it.
struct Question {
    std::string text;  // Markdown, for people; must not be empty; at most 16 KiB
    // approval: settled by decide(); user_input and tool_result: by submit() or fail().
    PauseReason kind = PauseReason::approval;
    std::string tool = "ask";  // letters, digits, "_", ".", ":", "/" and "-"; at most 128 bytes
    Json arguments = {};       // what is asked about: an object of at most 64 KiB, or null
    Json schema = {};  // JSON Schema of the result, at most 32 KiB, or null; not with approval
    // Without `message` and `state`: `text` is the message, and no tool continues.
    PauseOptions options = {};
    std::string project = "default";
    std::string key = {};  // as in NewSession; the same key returns the same call
    std::string by = "program";
};

struct PromptOptions {
    // While a turn is open; `reject` fails with session_busy. nullopt: the message answers the one
    // open question, if there is one; else queue.
    std::optional<PromptMode> when = {};
    std::optional<PendingId> answers = {};  // the call whose question this message answers
    std::string key = {};                   // as in NewSession
    std::string by = "program";
};
struct Accepted {
    TurnNo turn = 0;  // the turn that the message belongs to
    Seq message = 0;  // its event
};

// The answer to an outcome or a cancel: the receipt of the call. The same outcome again returns the
// same receipt.
struct Submitted : Receipt {
    bool duplicate = false;  // the same outcome was submitted before
    bool counted = false;    // one vote of several: the call still waits, and there is no receipt
};

struct Decision {
    bool approved = false;
    std::string reason = {};
    Json arguments = {};      // edited arguments; null: unchanged
    Json content = {};        // the filled-in form
    std::string digest = {};  // input_digest of the call that the person saw; empty: not checked
    std::string by = "program";
    Json metadata = {};  // as in SubmitOptions
};

// Details of a result or an error. Not part of the digest that decides whether outcomes are equal.
struct SubmitOptions {
    std::string by = "program";
    std::string title = {};        // for people
    Json metadata = {};            // kept with the outcome; passed to a tool that continues
    std::string delivery_id = {};  // id of the message that carried it; kept in the receipt
};

struct CancelOptions {
    std::string by = "program";
    std::string reason = {};  // for people and the model; at most 1,000 bytes
};

// One of a batch: a result, or an error if `error` is set.
struct Offer {
    PendingId pending;
    Json output = {};
    std::optional<std::string> error = {};
    std::string title = {};  // as in SubmitOptions
    Json metadata = {};
};

// A call of a tool under one of its pending ids: pending or settled.
struct CallView {
    PendingCall call = {};                // as it was while it waited
    std::optional<Receipt> receipt = {};  // nullopt: still pending
    Json output = {};                     // of a result
    std::string error = {};               // of an error
    std::string cancel_reason = {};       // of a cancel; empty: none was given
    std::string title = {};
    Json metadata = {};
};

// Selects pending calls.
struct WaitingFilter {
    std::string project = "default";
    std::string tool = {};                   // empty: all
    std::optional<PauseReason> reason = {};  // nullopt: all
    std::optional<SessionId> session = {};   // overrides `project`
    std::optional<PendingId> after = {};     // WaitingCalls::next of the previous page
    std::size_t limit = 50;                  // 1 to 200
};
struct WaitingCalls {
    // Newest session first, and within a session the newest call first; SessionView::pending has
    // the opposite order.
    std::vector<PendingCall> calls = {};
    std::optional<PendingId> next = {};  // set if more may follow, even if `calls` is empty
};

// A session that another one started: for a call of a tool "agent:NAME", or as a background task.
struct ChildSession {
    std::string task = {};  // its task id in the parent
    SessionId session = {};
    std::string agent = {};
    TaskStatus status = TaskStatus::running;
};

struct SessionView {
    SessionId id = {};
    std::string project = {};
    std::string agent = {};
    std::string title = {};
    std::string lifecycle = {};  // active, paused, completed, error or deleted
    Activity activity = Activity::idle;
    Seq head = 0;                    // newest event
    std::uint64_t input_tokens = 0;  // of all requests to models, as output_tokens
    std::uint64_t output_tokens = 0;
    std::vector<PendingCall> pending = {};  // in the order of their requests
    std::optional<SessionId> parent = {};
    std::vector<ChildSession> children = {};  // of open calls, and background tasks not cleared
};

struct Message {
    enum class Role : std::uint8_t { user, assistant };
    Role role = Role::user;
    Seq seq = 0;
    std::string text = {};  // all text parts
    Json parts = {};        // array of parts, as in the HTTP interface
};

struct Event {
    Seq seq = 0;
    std::string type = {};  // docs/reference/events.md lists types and their `data`
    Time at = {};
    TurnNo turn = 0;  // 0: none
    Json data = {};   // an object
    SessionId session = {};

    // Reads the members that T has and skips others: later versions may add some.
    template <class T> [[nodiscard]] Result<T> data_as() const {
        return from_json<T>(data, Unknown::skip);
    }
};

template <class T> using Completion = std::function<void(Result<T>)>;

// Options of the HTTP interface: what `dormouse serve` offers, for this runtime's sessions.
struct ServeSettings {
    std::string listen = "127.0.0.1:3676";  // a loopback address; port 0: any free one
    // Sent by clients as Authorization: Bearer. At least 16 bytes; 32 random bytes are recommended.
    // Empty: the token in the store's file `token`, created if it does not exist.
    std::string token = {};
    // URL at which clients reach it, for links and callback URLs; empty: the address it listens on.
    std::string public_url = {};
    // Allows `listen` to be reachable from other machines without TLS.
    bool insecure = false;
    // Receives each line of the log; may be called by several threads, one line at a time. Empty:
    // no log.
    std::function<void(std::string_view line)> log = {};
    // Webhooks of pauses are sent by https to public addresses, and to these hosts ("host" or
    // "host:port") at any address, also by http.
    std::vector<std::string> webhook_hosts = {};
};

// A subscription. Its destructor ends it, on any thread: it waits for a running call of the
// observer to return (an observer may destroy its own), and no call begins after it.
class Following {
public:
    Following() = default;
    explicit Following(std::shared_ptr<void> hold) : hold_(std::move(hold)) {}

private:
    std::shared_ptr<void> hold_;
};

class Runtime {
public:
    // Opens the store and continues the outstanding work of its sessions. Errors: bad_value (a
    // duplicate name, an agent with an unknown tool …), store_unavailable ("in use by pid N"),
    // newer_format …
    [[nodiscard]] static Result<Runtime> open(Settings settings);
    // Calls close(), then waits without limit for tools that still run. REQUIRES: not called from a
    // tool, a gate, a completion or an observer.
    ~Runtime();
    // A moved-from runtime may only be assigned to and destroyed.
    Runtime(Runtime&&) noexcept;
    Runtime& operator=(Runtime&&) noexcept;

    // Ends all work, for at most `limit`: accepts no more, asks running tools and models to stop
    // (Call::stop(), the model's stop token), and waits for their outcomes and for writes. A result
    // or a pause of a tool that was asked to stop is accepted; a failure of it is treated as a
    // crash: its policy decides at the next start. From then on every operation fails with
    // draining. Returns true if nothing runs any more, false if a tool still runs (the destructor
    // waits for it). Called from a thread of the runtime it does nothing and returns false. May be
    // called again.
    bool close(Duration limit = Duration(5'000));

    // Every operation can fail with draining (the runtime ends), overloaded (too much work waits),
    // store_unavailable, store_full and fail_stop; those of a session or a call also with
    // not_found; those in Operation also with the authorizer's error. Only further errors are
    // listed below.

    // Creates a session; with a prompt, its first turn starts. Errors: bad_value (unknown agent, a
    // text that is not UTF-8 or too long), too_large, idempotency_mismatch, session_gone.
    [[nodiscard]] Result<SessionId> create(NewSession session);
    void create(NewSession session, Completion<SessionId> done);

    // Asks people, or registers a job outside, and returns the id under which the answer comes;
    // call() has it. The authorizer is asked for create_session. Errors: bad_value, too_large,
    // idempotency_mismatch, session_gone.
    [[nodiscard]] Result<PendingId> ask(Question question);
    void ask(Question question, Completion<PendingId> done);

    // Sends a message of the user, at most 1 MiB. Errors: bad_value (empty or not UTF-8),
    // too_large, wrong_state, queue_full, session_busy, ambiguous (several open questions),
    // idempotency_mismatch, and those of submit() if it answers a question.
    [[nodiscard]] Result<Accepted> prompt(SessionId session, std::string text,
                                          PromptOptions options = {});
    void prompt(SessionId session, std::string text, PromptOptions options,
                Completion<Accepted> done);

    // Submits the result of a pending call. The compiler checks the type of this form; it fails
    // with wrong_tool if the call is another tool's.
    template <class In, class Out>
    [[nodiscard]] Result<Submitted> submit(TypedTool<In, Out> const& tool, PendingId pending,
                                           std::type_identity_t<Out> const& value,
                                           std::string by = "program") {
        return submit(tool, pending, value, SubmitOptions{.by = std::move(by)});
    }
    template <class In, class Out>
    [[nodiscard]] Result<Submitted> submit(TypedTool<In, Out> const& tool, PendingId pending,
                                           std::type_identity_t<Out> const& value,
                                           SubmitOptions options) {
        // The runtime checks schema and validator, on a tool thread.
        auto output = to_json(value);
        if (!output)
            return dormouse::fail(Code::invalid_result, output.error().detail,
                                  output.error().extra);
        return submit_as(tool.name(), pending, *std::move(output), std::move(options));
    }
    // Submits the result of a pending call. Errors: bad_value, too_large, wrong_kind (the call
    // waits for another kind of outcome), invalid_result (schema or validator), not_an_answerer,
    // and conflict, expired or cancelled with the existing outcome's {"digest", "receipt"} in
    // `extra`.
    [[nodiscard]] Result<Submitted> submit(PendingId pending, Json output,
                                           std::string by = "program");
    [[nodiscard]] Result<Submitted> submit(PendingId pending, Json output, SubmitOptions options);
    void submit(PendingId pending, Json output, std::string by, Completion<Submitted> done);
    void submit(PendingId pending, Json output, SubmitOptions options, Completion<Submitted> done);

    // Submits that a pending call failed; the model sees `error`.
    [[nodiscard]] Result<Submitted> fail(PendingId pending, std::string error,
                                         std::string by = "program");
    [[nodiscard]] Result<Submitted> fail(PendingId pending, std::string error,
                                         SubmitOptions options);
    void fail(PendingId pending, std::string error, std::string by, Completion<Submitted> done);
    void fail(PendingId pending, std::string error, SubmitOptions options,
              Completion<Submitted> done);

    // Returns a call, pending or settled, with its outcome. Errors: not_found.
    [[nodiscard]] Result<CallView> call(PendingId pending);
    void call(PendingId pending, Completion<CallView> done);

    // Submits a person's decision on a pending call. Errors: those of submit(), bad_value (digest),
    // input_changed (the digest is not that of the call's input), invalid_arguments.
    [[nodiscard]] Result<Submitted> decide(PendingId pending, Decision decision);
    void decide(PendingId pending, Decision decision, Completion<Submitted> done);

    // Returns the pending calls of a project's sessions, or of one session. Errors: bad_value
    // (limit).
    [[nodiscard]] Result<WaitingCalls> waiting(WaitingFilter filter = {});
    void waiting(WaitingFilter filter, Completion<WaitingCalls> done);
    // Pauses or resumes a session. A paused session accepts outcomes but does nothing before it is
    // resumed. Errors: wrong_state.
    [[nodiscard]] Result<void> pause(SessionId session, std::string by = "program");
    [[nodiscard]] Result<void> resume(SessionId session, std::string by = "program");

    // Returns one result for each offer, in the same order.
    [[nodiscard]] std::vector<Result<Submitted>> submit_all(std::vector<Offer> offers,
                                                            std::string const& by = "program");
    void submit_all(std::vector<Offer> offers, std::string const& by,
                    std::function<void(std::vector<Result<Submitted>>)> done);

    // Records a progress note of a pending call: JSON of at most 64 KiB. A note with a `key` (at
    // most 256 bytes) that the call already has is ignored. Errors: bad_value, too_large,
    // rate_limited (10 a second, 10,000 for a call), and conflict, expired or cancelled as for
    // submit().
    [[nodiscard]] Result<void> progress(PendingId pending, Json payload, std::string key = {},
                                        std::string by = "program");
    void progress(PendingId pending, Json payload, std::string key, std::string by,
                  Completion<void> done);

    // Cancels one call; the model learns that it was cancelled.
    [[nodiscard]] Result<Submitted> cancel(PendingId pending, std::string by = "program");
    [[nodiscard]] Result<Submitted> cancel(PendingId pending, CancelOptions options);
    void cancel(PendingId pending, std::string by, Completion<Submitted> done);
    void cancel(PendingId pending, CancelOptions options, Completion<Submitted> done);
    // Cancels the open turn with all its calls.
    [[nodiscard]] Result<void> cancel(SessionId session, std::string by = "program");
    [[nodiscard]] Result<void> cancel(SessionId session, CancelOptions options);
    void cancel(SessionId session, std::string by, Completion<void> done);
    void cancel(SessionId session, CancelOptions options, Completion<void> done);

    // Returns the current state of a session.
    [[nodiscard]] Result<SessionView> session(SessionId session);
    void session(SessionId session, Completion<SessionView> done);
    // Returns the session once it is idle or sleeps, or when `limit` has passed: then `activity` is
    // busy or retry.
    [[nodiscard]] Result<SessionView> wait_idle(SessionId session,
                                                Duration limit = Duration(60'000));
    void wait_idle(SessionId session, Duration limit, Completion<SessionView> done);

    // Returns all messages of users and of the agent, in order.
    [[nodiscard]] Result<std::vector<Message>> messages(SessionId session);
    void messages(SessionId session, Completion<std::vector<Message>> done);
    // Returns the agent's last text; empty if there is none.
    [[nodiscard]] Result<std::string> last_reply(SessionId session);

    // Returns the artifact that the event `seq` (artifact_emitted) names. Errors: not_found.
    [[nodiscard]] Result<Artifact> artifact(SessionId session, Seq seq);
    void artifact(SessionId session, Seq seq, Completion<Artifact> done);

    // Returns the events after `after`: about 256 KiB at most, but at least one if there is one.
    // Store the result before iterating: `for (… : runtime.events(s).value())` reads a destroyed
    // temporary before C++23's range-for (g++ 15, clang 19).
    [[nodiscard]] Result<std::vector<Event>> events(SessionId session, Seq after = 0);
    void events(SessionId session, Seq after, Completion<std::vector<Event>> done);
    // Calls `observer` with each event after `after` once, in order, on a callback thread, never
    // concurrently; then with new events as they come. A slow observer delays no session, tool or
    // model (other callbacks only if callback_threads of them run). An observer that throws is
    // logged and not called again. `after` is a cursor: keep the last seq and continue from it in
    // the next process. `on_text` receives the pieces of text that a model streams; the event
    // model_replied replaces them.
    [[nodiscard]] Result<Following> follow(SessionId session, Seq after,
                                           std::function<void(Event const&)> observer,
                                           std::function<void(std::string const&)> on_text = {});

    // The same for a session and its descendants that start after `after`: for each descendant all
    // events, in order.
    [[nodiscard]] Result<Following> follow_all(SessionId session, Seq after,
                                               std::function<void(Event const&)> observer);

    // Returns true if the store is a copy that no person has released: `dormouse restore` made the
    // directory, or the database is not the one that its schema was made in. Then sessions are
    // read and accept input and outcomes, but nothing runs.
    [[nodiscard]] Result<bool> held();
    // Releases such a copy for all processes and for later starts: outstanding work runs from now
    // on. The original must not run any more. Errors: wrong_state (nothing is held).
    [[nodiscard]] Result<void> release();

    // Serves the HTTP interface for the lifetime of this runtime; returns its address. Only in
    // programs that link dormouse::serve. Errors: bad_value, forbidden (other machines could reach
    // it), conflict (already serving).
    [[nodiscard]] Result<std::string> serve(ServeSettings const& settings = {});

private:
    class Engine;
    explicit Runtime(std::unique_ptr<Engine> engine);
    [[nodiscard]] Result<Submitted> submit_as(std::string tool, PendingId pending, Json output,
                                              SubmitOptions options);

    std::unique_ptr<Engine> engine_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
