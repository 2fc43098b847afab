#pragma once
// Runtime: durable sessions inside a program of your own.
//
//     auto runtime = dormouse::Runtime::open({.store = "ops", .agents = {…}, .tools = {deploy}});
//     if (!runtime) return tell(runtime.error());
//     auto session = runtime->create({.agent = "ops", .prompt = "Deploy the shop."});
//
// Every operation has two forms. One blocks until what it did is durable; the other takes a
// completion as its last argument, which is called once, on a callback thread, and may block. Both
// may be called from any thread, also from tools and completions. A program that ends, however,
// loses nothing that has returned: the next one opens the same store and goes on by itself.
//
// Threads: the program's code runs on two pools, and never on the threads that the sessions need.
//   tool threads      functions of tools, gates, validators, interceptors, authorizers, models
//   callback threads  completions and observers, unless Settings::executor runs them
// A thread that waits in an operation of the runtime lends its place to another one, up to
// `tool_threads_max`. The library's threads block all signals (but those of faults, and SIGPROF):
// handlers run on the program's own threads, and a child process that a tool starts without setting
// its mask inherits the blocked one. A process that has a Runtime must not fork without exec: the
// child shares the store's lock and has none of the threads.
//
// Exceptions: what the program's code throws never leaves the thread that runs it. A tool that
// throws has failed, a gate denies, an interceptor or a model ends the turn, a validator refuses
// the result, an authorizer forbids, a callback_url() is empty; a completion or an observer that
// throws is told to Settings::log.

#include <dormouse/gate.h>
#include <dormouse/model.h>
#include <dormouse/tool.h>
#include <dormouse/turn.h>

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
    std::string instructions = {};
    // Names of registered tools; "agent:NAME", which asks that agent (its prompt in, what it said
    // last out; each call has a session of its own, SessionView::children); and background_task,
    // background_output, background_resume, background_cancel, background_clear, background_list.
    std::vector<std::string> tools = {};
    std::string description = {};
    std::uint32_t step_limit = 50;  // requests to the model in one turn, over all its pauses
    std::uint32_t tool_concurrency = 8;
};

// A call that waits.
struct PendingCall {
    PendingId id = {};
    std::string tool = {};
    Json input = {};
    std::string input_digest = {};  // "sha256:…": what a decision may be bound to
    PauseReason reason = PauseReason::tool_result;
    std::string gate = {};     // set: a gate asked
    bool in_doubt = false;     // what became of an attempt that a crash cut off?
    std::string message = {};  // for people
    Json form = {};
    Json placeholder = {};
    std::string external_ref = {};
    std::string webhook_url = {};  // told when it ends
    Time since = {};
    std::optional<Time> deadline = {};
};

// `resume` is an outcome of a call; the last three are asked about a session.
enum class Operation : std::uint8_t {
    resume,
    progress,
    cancel,
    message,
    create_session,
    pause_session,
    resume_session,
};
// `call` names the pending call; of one that is closed or was never there it holds the id alone. Of
// an operation on a session it holds the session in the id, and of create_session nothing. An error
// is the answer to whoever asked, before anything is told of the call. On a tool thread; what it
// throws forbids.
using Authorizer = std::function<Result<void>(Operation operation, std::string const& by,
                                              PendingCall const& call)>;

// Runs what it is given, once, soon, on any thread but the one that calls it, or there if that may
// block. What it has not run when the runtime ends is still valid, and has nothing to wait for.
using Executor = std::function<void(std::function<void()> work)>;

struct Settings {
    // A directory, made if it is not there; ":memory:" keeps nothing.
    std::string store = "dormouse";
    std::vector<AgentSettings> agents = {};
    std::vector<ToolPtr> tools = {};
    std::vector<Gate> gates = {};
    std::vector<TurnInterceptor> turns = {};  // first registered: outermost
    Authorizer authorize = {};
    // What a call's callback_url() is made with, on a tool thread; empty: a call has none, unless
    // the runtime serves HTTP.
    std::function<std::string(PendingId const&)> callback_url = {};
    // Tool threads that work at once; at least 1.
    std::size_t tool_threads = 4;
    // Tool threads with those that wait in an operation of the runtime; when so many wait, what
    // they wait for may have to wait too. No fewer than tool_threads count.
    std::size_t tool_threads_max = 64;
    // Completions and observers that run at once; at least 1. Threads are started as needed.
    std::size_t callback_threads = 16;
    // Where completions and observers run instead of callback threads; empty: on those. What it
    // throws is logged, and a callback thread runs the work.
    Executor executor = {};
    // Takes a line for each thing that went wrong and has nobody else to be told to: a completion
    // or an observer that threw. From any thread, one line at a time; must not block for long.
    // Empty: nobody is told.
    std::function<void(std::string_view line)> log = {};
    std::size_t resident_sessions = 16'384;
    // Sessions that were completed so long ago are deleted; nullopt: none.
    std::optional<Duration> completed_after = {};
};

struct NewSession {
    std::string agent;
    std::string prompt = {};  // empty: none yet
    std::string project = "default";
    std::string title = {};
    std::map<std::string, std::string> labels = {};
    // The same key again gives the same session; another request under it is an error.
    std::string key = {};
    std::string by = "program";
};

struct PromptOptions {
    enum class When : std::uint8_t { queue, steer, interrupt, reject };
    std::optional<When> when = {};
    std::optional<PendingId> answers = {};  // the call whose question this answers
    std::string key = {};                   // as in NewSession
    std::string by = "program";
};
struct Accepted {
    TurnNo turn = 0;
    Seq message = 0;
};

enum class CallStatus : std::uint8_t { completed, failed, expired, cancelled };
// What an outcome left behind. The same outcome again gives the same receipt.
struct Receipt {
    PendingId pending = {};
    CallStatus status = CallStatus::completed;
    bool duplicate = false;  // it had been taken before
    bool counted = false;    // a vote of several; the call goes on waiting
    std::string digest = {};
    Time at = {};
    std::string by = {};
    Seq seq = 0;
};

struct Decision {
    bool approved = false;
    std::string reason = {};
    Json arguments = {};      // edited ones; null: as they are
    Json content = {};        // what the form was filled in with
    std::string digest = {};  // the input_digest that the person was shown; empty: not checked
    std::string by = "program";
    Json metadata = {};  // as in SubmitOptions
};

// What goes with a result or an error, and is no part of what receipts are compared by.
struct SubmitOptions {
    std::string by = "program";
    std::string title = {};        // for people
    Json metadata = {};            // kept with the outcome; a tool that goes on gets it
    std::string delivery_id = {};  // of the message that brought it, kept in its receipt
};

struct CancelOptions {
    std::string by = "program";
    std::string reason = {};  // for people and the model; at most 1,000 bytes
};

// One of a batch: a result, or an error when `error` is set.
struct Offer {
    PendingId pending;
    Json output = {};
    std::optional<std::string> error = {};
    std::string title = {};  // as in SubmitOptions
    Json metadata = {};
};

// A call of a tool under one of its pending ids: it waits, or was settled.
struct CallView {
    PendingCall call = {};                // as it was shown when it waited
    std::optional<Receipt> receipt = {};  // nullopt: it waits
    Json output = {};                     // of a result
    std::string error = {};               // of an error
    std::string cancel_reason = {};       // of a cancel; empty: none was given
    std::string title = {};
    Json metadata = {};
};

// Which of the calls that wait.
struct WaitingFilter {
    std::string project = "default";
    std::string tool = {};                   // empty: all
    std::optional<PauseReason> reason = {};  // nullopt: all
    std::optional<SessionId> session = {};   // which names its project
    std::optional<PendingId> after = {};     // the next page: where the last one ended
    std::size_t limit = 50;                  // 1 to 200
};
struct WaitingCalls {
    // Newest session first, in it the newest call; SessionView::pending has the other order.
    std::vector<PendingCall> calls = {};
    std::optional<PendingId> next = {};  // there may be more after it, also when `calls` is empty
};

// A session that another one has started: for a call of a tool "agent:NAME", or as a background
// task.
struct ChildSession {
    enum class Status : std::uint8_t { running, completed, error, cancelled, resumed };
    std::string task = {};  // its id in the parent
    SessionId session = {};
    std::string agent = {};
    Status status = Status::running;
};

struct SessionView {
    enum class Activity : std::uint8_t { idle, busy, retry, waiting_async };
    SessionId id = {};
    std::string project = {};
    std::string agent = {};
    std::string title = {};
    std::string lifecycle = {};  // active, paused, completed, error, deleted
    Activity activity = Activity::idle;
    Seq head = 0;
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::vector<PendingCall> pending = {};  // in request order
    std::optional<SessionId> parent = {};
    std::vector<ChildSession> children = {};  // those that it has not done with
};

struct Message {
    enum class Role : std::uint8_t { user, assistant };
    Role role = Role::user;
    Seq seq = 0;
    std::string text = {};
    Json parts = {};
};

struct Event {
    Seq seq = 0;
    std::string type = {};
    Time at = {};
    TurnNo turn = 0;  // 0: none
    Json data = {};
    SessionId session = {};

    // The members that T has; others are skipped, as later versions add some.
    template <class T> [[nodiscard]] Result<T> data_as() const {
        return from_json<T>(data, Unknown::skip);
    }
};

template <class T> using Completion = std::function<void(Result<T>)>;

// Over HTTP: what `dormouse serve` offers, on this runtime's sessions.
struct ServeSettings {
    std::string listen = "127.0.0.1:3676";  // a loopback address; port 0: any free one
    // What clients say, as Authorization: Bearer; at least 16 bytes, better 32 random ones. Empty:
    // that of the file `token` in the store, made when there is none.
    std::string token = {};
    // Under which others reach it, for links and callback URLs; empty: as it listens.
    std::string public_url = {};
    // `listen` may be reachable from other machines, without TLS.
    bool insecure = false;
    // Takes each line of the log; may be called by several threads, one at a time. Empty: no log.
    std::function<void(std::string_view line)> log = {};
    // Webhooks of pauses are sent to https at public addresses; and to these hosts ("host" or
    // "host:port") wherever they are, also by http.
    std::vector<std::string> webhook_hosts = {};
};

// Ends the following when it goes; what is under way in the observer ends first.
class Following {
public:
    Following() = default;
    explicit Following(std::shared_ptr<void> hold) : hold_(std::move(hold)) {}

private:
    std::shared_ptr<void> hold_;
};

class Runtime {
public:
    // Opens the store, begins to do what sessions owe. Errors: bad_value (a name twice, an agent
    // with an unknown tool …), store_unavailable ("in use by pid N"), newer_format …
    [[nodiscard]] static Result<Runtime> open(Settings settings);
    // close(), and then waits for tools that still run, however long.
    // REQUIRES: not called from a tool, a gate, a completion or an observer.
    ~Runtime();
    // A runtime that was moved from may only be assigned to and destroyed.
    Runtime(Runtime&&) noexcept;
    Runtime& operator=(Runtime&&) noexcept;

    // Ends all work, for at most `limit`: takes no more, asks tools and models that run to stop
    // (Call::stop(), the model's stop token), and lets what they bring home and what is on its way
    // to the disk arrive. A tool that fails after it was asked to stop is met like a crash: its
    // policy decides at the next start; its result or its pause is taken. Every operation is
    // answered with draining from then on. True: nothing runs any more. False: a tool still does
    // and the destructor waits for it; or this was called from a thread of the runtime, where it
    // does nothing. May be called again.
    bool close(Duration limit = Duration(5'000));

    [[nodiscard]] Result<SessionId> create(NewSession session);
    void create(NewSession session, Completion<SessionId> done);

    [[nodiscard]] Result<Accepted> prompt(SessionId session, std::string text,
                                          PromptOptions options = {});
    void prompt(SessionId session, std::string text, PromptOptions options,
                Completion<Accepted> done);

    // The result of a call that waits. The typed form is checked by the compiler, and is refused
    // with wrong_tool when the call is another tool's.
    template <class In, class Out>
    [[nodiscard]] Result<Receipt> submit(TypedTool<In, Out> const& tool, PendingId pending,
                                         std::type_identity_t<Out> const& value,
                                         std::string by = "program") {
        return submit(tool, pending, value, SubmitOptions{.by = std::move(by)});
    }
    template <class In, class Out>
    [[nodiscard]] Result<Receipt> submit(TypedTool<In, Out> const& tool, PendingId pending,
                                         std::type_identity_t<Out> const& value,
                                         SubmitOptions options) {
        // Its schema and its validator are asked by the runtime, on a tool thread.
        auto output = to_json(value);
        if (!output)
            return dormouse::fail(Code::invalid_result, output.error().detail,
                                  output.error().extra);
        return submit_as(tool.name(), pending, *std::move(output), std::move(options));
    }
    // Errors: conflict, expired and cancelled hold what stands in `extra`: {"digest", "receipt"}.
    [[nodiscard]] Result<Receipt> submit(PendingId pending, Json output,
                                         std::string by = "program");
    [[nodiscard]] Result<Receipt> submit(PendingId pending, Json output, SubmitOptions options);
    void submit(PendingId pending, Json output, std::string by, Completion<Receipt> done);
    void submit(PendingId pending, Json output, SubmitOptions options, Completion<Receipt> done);

    // It failed; the model is told the text.
    [[nodiscard]] Result<Receipt> fail(PendingId pending, std::string error,
                                       std::string by = "program");
    [[nodiscard]] Result<Receipt> fail(PendingId pending, std::string error, SubmitOptions options);
    void fail(PendingId pending, std::string error, std::string by, Completion<Receipt> done);
    void fail(PendingId pending, std::string error, SubmitOptions options,
              Completion<Receipt> done);

    // A call that waits or was settled, with what settled it. Errors: not_found.
    [[nodiscard]] Result<CallView> call(PendingId pending);
    void call(PendingId pending, Completion<CallView> done);

    [[nodiscard]] Result<Receipt> decide(PendingId pending, Decision decision);
    void decide(PendingId pending, Decision decision, Completion<Receipt> done);

    // The calls that wait in all sessions of a project, or in one: whom to answer, and which
    // sessions sleep.
    [[nodiscard]] Result<WaitingCalls> waiting(WaitingFilter filter = {});
    void waiting(WaitingFilter filter, Completion<WaitingCalls> done);
    // Nothing is done in a session that is paused: outcomes are taken, and nothing follows from
    // them before it is resumed. Errors: wrong_state.
    [[nodiscard]] Result<void> pause(SessionId session, std::string by = "program");
    [[nodiscard]] Result<void> resume(SessionId session, std::string by = "program");

    // In the order of the offers, each with an outcome of its own.
    [[nodiscard]] std::vector<Result<Receipt>> submit_all(std::vector<Offer> offers,
                                                          std::string const& by = "program");
    void submit_all(std::vector<Offer> offers, std::string const& by,
                    std::function<void(std::vector<Result<Receipt>>)> done);

    // A note on the way; the same key is noted once. At most 64 KiB.
    [[nodiscard]] Result<void> progress(PendingId pending, Json payload, std::string key = {},
                                        std::string by = "program");
    void progress(PendingId pending, Json payload, std::string key, std::string by,
                  Completion<void> done);

    // One call: the model is told that it was cancelled.
    [[nodiscard]] Result<Receipt> cancel(PendingId pending, std::string by = "program");
    [[nodiscard]] Result<Receipt> cancel(PendingId pending, CancelOptions options);
    void cancel(PendingId pending, std::string by, Completion<Receipt> done);
    void cancel(PendingId pending, CancelOptions options, Completion<Receipt> done);
    // The open turn, with all its calls.
    [[nodiscard]] Result<void> cancel(SessionId session, std::string by = "program");
    [[nodiscard]] Result<void> cancel(SessionId session, CancelOptions options);
    void cancel(SessionId session, std::string by, Completion<void> done);
    void cancel(SessionId session, CancelOptions options, Completion<void> done);

    [[nodiscard]] Result<SessionView> session(SessionId session);
    void session(SessionId session, Completion<SessionView> done);
    // The session as it is when it is idle or sleeps, or when `limit` has passed: its `activity`
    // tells the two apart (busy or retry: it ran out of time).
    [[nodiscard]] Result<SessionView> rest(SessionId session, Duration limit = Duration(60'000));
    void rest(SessionId session, Duration limit, Completion<SessionView> done);

    [[nodiscard]] Result<std::vector<Message>> messages(SessionId session);
    void messages(SessionId session, Completion<std::vector<Message>> done);
    // What the agent said last; empty if nothing.
    [[nodiscard]] Result<std::string> said(SessionId session);

    // What an artifact_emitted of this session names. Errors: not_found.
    [[nodiscard]] Result<Artifact> artifact(SessionId session, Seq seq);
    void artifact(SessionId session, Seq seq, Completion<Artifact> done);

    // Events after `after`, at most about a quarter of a mebibyte of them, at least one if there is
    // one. Keep the answer while you walk through it: `for (… : runtime.events(s).value())` is read
    // after its end before C++23's range-for (g++ 15, clang 19).
    [[nodiscard]] Result<std::vector<Event>> events(SessionId session, Seq after = 0);
    void events(SessionId session, Seq after, Completion<std::vector<Event>> done);
    // Each event after `after` once, in order, on a callback thread, never two at once; from then
    // on as they come. A slow observer delays no session, tool or model (and other callbacks only
    // while callback_threads of them run); one that throws is logged and not called again. `after`
    // is a cursor: keep the last seq and go on from it in the next process. `said` is given the
    // pieces of text that a model streams, as they come; the event model_replied takes their place.
    [[nodiscard]] Result<Following> follow(SessionId session, Seq after,
                                           std::function<void(Event const&)> observer,
                                           std::function<void(std::string const&)> said = {});

    // The same of a session and of all that it starts after `after`, their own children too: of
    // each its events in order, from the first one on.
    [[nodiscard]] Result<Following> follow_all(SessionId session, Seq after,
                                               std::function<void(Event const&)> observer);

    // Offers the HTTP interface, for as long as this lives; the address is the answer. Only in
    // programs that link dormouse::serve. Errors: bad_value, forbidden (others could reach it),
    // conflict (it serves already).
    [[nodiscard]] Result<std::string> serve(ServeSettings const& settings = {});

private:
    class Engine;
    explicit Runtime(std::unique_ptr<Engine> engine);
    [[nodiscard]] Result<Receipt> submit_as(std::string tool, PendingId pending, Json output,
                                            SubmitOptions options);

    std::unique_ptr<Engine> engine_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
