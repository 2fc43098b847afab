#pragma once
// What a Runtime is made of: a loop on a thread of its own with the runner, the store behind its
// threads, tool threads, callback threads. Operations are posted to the loop and answer from there.

#include <dormouse/runtime.h>

#include "agent/catalogue.h"
#include "agent/effects.h"
#include "io/clock.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "io/store_thread.h"
#include "io/thread_workers.h"
#include "runner/counted.h"
#include "runner/runner.h"
#include "runtime/callbacks.h"
#include "runtime/ending_effects.h"
#include "runtime/entrance.h"
#include "runtime/reply.h"

#include <atomic>
#include <mutex>
#include <stop_token>
#include <thread>

namespace dormouse {

namespace runtime {

// What a runtime has for it.
struct Inside {
    io::AsioLoop& loop;
    io::SystemClock& clock;
    io::SystemEntropy& entropy;
    port::Journal& journal;
    port::Catalogue& catalogue;
    runner::Runner& runner;
    port::Workers& bodies;     // for work on large values
    std::string const& store;  // the directory, or ":memory:"
    // On the loop. nullptr: nobody counts.
    std::function<void(port::Meter*)> count_by;
    std::function<std::vector<port::ModelLoad>()> models;
};

// What else runs on a runtime's loop, and is shut down with it: the HTTP server. It observes the
// runner beside the runtime.
class Attached : public runner::Observer {
public:
    // Takes no more requests.
    virtual void stop_accepting() = 0;
    // Nothing is asked of the runner any more: ends, then calls `done`.
    virtual void end(port::Fn<void()> done) = 0;
    // "http://host:port/c/…": takes the outcome of that call.
    [[nodiscard]] virtual std::string callback_url(PendingId const& pending) const = 0;
    // As runner::Options::outgoing.
    [[nodiscard]] virtual std::vector<port::PostRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) const = 0;
};

}  // namespace runtime

class Runtime::Engine : private runner::Observer {
public:
    [[nodiscard]] static Result<std::unique_ptr<Engine>> open(Settings settings);
    ~Engine() override;

    // See Runtime::close().
    bool close(Duration limit);

    // Any thread: `begin` runs on the loop and answers the reply once.
    template <class T> using Begin = port::Fn<void(runtime::Reply<T>)>;
    template <class T> [[nodiscard]] Result<T> block(Begin<T> begin);
    template <class T> void run(Begin<T> begin, Completion<T> done);

    // On the loop.
    void create(NewSession const& session, runtime::Reply<SessionId> reply);
    void prompt(SessionId session, std::string const& text, PromptOptions const& options,
                runtime::Reply<Accepted> reply);
    void submit(runtime::Entering what, runtime::Reply<Receipt> reply);
    void call(PendingId pending, runtime::Reply<CallView> reply);
    void submit_all(std::vector<runtime::Entering> offers,
                    runtime::Reply<std::vector<Result<Receipt>>> reply);
    void progress(PendingId pending, Json payload, std::string key, std::string const& by,
                  runtime::Reply<void> reply);
    void cancel(PendingId pending, CancelOptions options, runtime::Reply<Receipt> reply);
    void cancel(SessionId session, CancelOptions options, runtime::Reply<void> reply);
    void look(SessionId session, runtime::Reply<SessionView> reply);
    void rest(SessionId session, Duration limit, runtime::Reply<SessionView> reply);
    void messages(SessionId session, runtime::Reply<std::vector<Message>> reply);
    void events(SessionId session, Seq after, runtime::Reply<std::vector<Event>> reply);
    void follow(SessionId session, Seq after, std::function<void(Event const&)> observer,
                std::function<void(std::string const&)> said, runtime::Reply<Following> reply);
    void follow_all(SessionId session, Seq after, std::function<void(Event const&)> observer,
                    runtime::Reply<Following> reply);
    void waiting(WaitingFilter const& filter, runtime::Reply<WaitingCalls> reply);
    void waiting_of_session(WaitingFilter const& filter, runtime::Reply<WaitingCalls> reply);
    void artifact(SessionId session, Seq seq, runtime::Reply<Artifact> reply);
    void move(SessionId session, session::Move::To to, std::string const& by,
              runtime::Reply<void> reply);

    // All of it outlives what is attached.
    [[nodiscard]] runtime::Inside inside();
    // On the loop. REQUIRES: nothing is attached yet.
    void attach(std::unique_ptr<runtime::Attached> what) { attached_ = std::move(what); }
    [[nodiscard]] bool has_attached() const { return attached_ != nullptr; }

private:
    struct Parts;      // what a Settings is made into before anything runs
    struct Follow;     // a reader of one session
    struct Family;     // … of one and of those that it starts
    struct Resting;    // one that waits for a session to rest
    struct Gathering;  // a list that is read from one session after the other
    Engine(Settings settings, std::unique_ptr<port::Store> store);

    void begin_to_end(Duration limit, port::Fn<void()> told);
    void count_by(port::Meter* meter);
    void offer(session::Submit command, std::string by,
               std::shared_ptr<runtime::Reply<Receipt>> const& reply);
    void refuse_closed(PendingId pending, Error error, std::function<void(Error)> reply);
    [[nodiscard]] Result<void> assemble();
    void add(agent::Tool tool);
    [[nodiscard]] agent::ToolResult run_tool(agent::Tool const& tool, agent::ToolCall const& call,
                                             std::stop_token stop);
    void add_task_tools();
    [[nodiscard]] Result<void> assemble_agents();
    [[nodiscard]] Result<void> assemble_turns();
    void allow(Operation operation, PendingId pending, std::string by, port::Fn<void()> then,
               port::Fn<void(Error)> refuse);
    void authorize(Operation operation, std::string by, PendingCall shown, port::Fn<void()> then,
                   port::Fn<void(Error)> refuse);
    void let_go();
    void pump(std::shared_ptr<Follow> const& follow);
    void hand_over(std::shared_ptr<Follow> const& follow, std::vector<Event> events);
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override;
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        if (attached_) attached_->appended(lane, records);
    }
    void posted() override {
        if (attached_) attached_->posted();
    }
    void delivered(session::PostKey const& key, Result<session::Answer> const& answer) override {
        if (attached_) attached_->delivered(key, answer);
    }
    void swept(std::size_t sessions) override {
        if (attached_) attached_->swept(sessions);
    }
    void failed() override {
        if (attached_) attached_->failed();
    }
    void join(std::shared_ptr<Family> const& family, SessionId session, Seq after,
              runtime::Reply<void> joined);
    void join_child(std::shared_ptr<Family> const& family, SessionId child, Duration wait);
    void hand_over_said(std::shared_ptr<Follow> const& follow);
    [[nodiscard]] std::string callback_url(PendingId const& pending) const;
    void gather(std::shared_ptr<Gathering> const& gathering);

    Settings const settings_;
    // What callbacks meet that come while the rest of this goes.
    std::shared_ptr<std::atomic<bool>> const over_ = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<runtime::Blocked> const blocked_ = std::make_shared<runtime::Blocked>();
    runtime::CallbacksOwner callbacks_;
    io::ToolThreads threads_;
    std::stop_source ending_;  // models and tools are asked to stop, because the runtime ends
    std::mutex closing_;
    io::AsioLoop loop_;
    io::SystemClock clock_;
    io::SystemEntropy entropy_;
    io::CurlHttpClient http_{loop_};
    std::unique_ptr<port::Store> store_;
    agent::Registry registry_;
    io::ThreadWorkers workers_{threads_, loop_};
    io::ToolThreads body_threads_{{.threads = 1, .name = "body"}};
    io::ThreadWorkers body_workers_{body_threads_, loop_};
    agent::RegistryCatalogue catalogue_{registry_, &workers_};
    agent::AgentEffects effects_;
    io::StoreThread journal_;
    runtime::EndingEffects ending_effects_{
        effects_, ending_.get_token(),
        [this](SessionId session, session::EffectId id) { runner_.forget_effect(session, id); }};
    runner::CountedEffects counted_effects_{ending_effects_};
    runner::CountedJournal counted_journal_{journal_, clock_};
    port::Meter* meter_ = nullptr;  // nullptr: nobody counts
    runner::Runner runner_;
    std::map<SessionId, std::vector<std::weak_ptr<Follow>>> listeners_;  // of text
    std::vector<std::weak_ptr<Follow>> follows_;
    std::vector<std::weak_ptr<Resting>> resting_;
    std::unique_ptr<runtime::Attached> attached_;
    std::thread thread_;  // last: everything it uses stands before it starts
};

template <class T> Result<T> Runtime::Engine::block(Begin<T> begin) {
    if (*over_) return std::unexpected(runtime::ended());
    auto const wait = std::make_shared<runtime::Blocked::Wait<T>>();
    runtime::Reply<T> reply([blocked = blocked_, wait](Result<T> result) {
        blocked->answer(*wait, std::move(result));
    });
    callbacks_->post([begin = std::move(begin), reply = std::move(reply)]() mutable {
        begin(std::move(reply));
    });
    io::ToolThreads::Waiting const as_tool(threads_);
    io::ToolThreads::Waiting const as_callback(callbacks_->threads());
    return blocked_->wait(*wait);
}

template <class T> void Runtime::Engine::run(Begin<T> begin, Completion<T> done) {
    auto const then = std::make_shared<Completion<T>>(std::move(done));
    runtime::Reply<T> reply([callbacks = callbacks_.share(), then](Result<T> result) {
        callbacks->run([callbacks, then, result = std::move(result)]() mutable {
            callbacks->notes().guard("a completion", [&] { (*then)(std::move(result)); });
        });
    });
    if (*over_) return reply(std::unexpected(runtime::ended()));
    callbacks_->post([begin = std::move(begin), reply = std::move(reply)]() mutable {
        begin(std::move(reply));
    });
}

}  // namespace dormouse
