#pragma once
// What a Runtime is made of: a loop on a thread of its own with the runner, the store behind its
// threads, tool threads. Operations are posted to the loop and answer from there.

#include <dormouse/runtime.h>

#include "agent/catalogue.h"
#include "agent/effects.h"
#include "door/door.h"
#include "io/clock.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "io/store_thread.h"
#include "io/thread_workers.h"
#include "runner/runner.h"
#include "runtime/reply.h"

#include <atomic>
#include <thread>

namespace dormouse {

class Runtime::Engine {
public:
    [[nodiscard]] static Result<std::unique_ptr<Engine>> open(Settings settings);
    ~Engine();

    // Any thread: `begin` runs on the loop and answers the reply once.
    template <class T> using Begin = port::Fn<void(runtime::Reply<T>)>;
    template <class T> [[nodiscard]] Result<T> block(Begin<T> begin);
    template <class T> void run(Begin<T> begin, Completion<T> done);

    // On the loop.
    void create(NewSession const& session, runtime::Reply<SessionId> reply);
    void prompt(SessionId session, std::string const& text, PromptOptions const& options,
                runtime::Reply<Accepted> reply);
    // `tool`: whose call it must be; empty: any.
    void submit(std::string tool, PendingId pending, session::Submission what,
                std::optional<Sha256> shown, std::string const& by, runtime::Reply<Receipt> reply);
    void submit_all(std::vector<Offer> offers, std::string const& by,
                    runtime::Reply<std::vector<Result<Receipt>>> reply);
    void progress(PendingId pending, Json payload, std::string key, std::string const& by,
                  runtime::Reply<void> reply);
    void cancel(PendingId pending, std::string const& by, runtime::Reply<Receipt> reply);
    void cancel(SessionId session, std::string const& by, runtime::Reply<void> reply);
    void look(SessionId session, runtime::Reply<SessionView> reply);
    void rest(SessionId session, Duration limit, runtime::Reply<SessionView> reply);
    void messages(SessionId session, runtime::Reply<std::vector<Message>> reply);
    void events(SessionId session, Seq after, runtime::Reply<std::vector<Event>> reply);
    void follow(SessionId session, Seq after, std::function<void(Event const&)> observer,
                runtime::Reply<Following> reply);

private:
    struct Parts;    // what a Settings is made into before anything runs
    struct Follow;   // a reader of one session
    struct Resting;  // one that waits for a session to rest
    Engine(Settings settings, std::unique_ptr<port::Store> store);

    void submit_one(Offer& offer, std::string const& by, runtime::Reply<Receipt> reply);
    [[nodiscard]] Result<void> assemble();
    void allow(Operation operation, PendingId pending, std::string by, port::Fn<void()> then,
               port::Fn<void(Error)> refuse);
    void pump(std::shared_ptr<Follow> const& follow);
    void hand_over(std::shared_ptr<Follow> const& follow, std::vector<Event> events);

    Settings const settings_;
    io::AsioLoop loop_;
    io::SystemClock clock_;
    io::SystemEntropy entropy_;
    io::CurlHttpClient http_{loop_};
    std::unique_ptr<port::Store> store_;
    agent::Registry registry_;
    agent::RegistryCatalogue catalogue_{registry_};
    io::ToolThreads threads_;
    io::ThreadWorkers workers_{threads_, loop_};
    agent::AgentEffects effects_;
    io::StoreThread journal_;
    runner::Runner runner_;
    runtime::Blocked blocked_;
    // Set once; outlives this with whoever may come later.
    std::shared_ptr<std::atomic<bool>> const over_ = std::make_shared<std::atomic<bool>>(false);
    std::thread thread_;  // last: everything it uses stands before it starts
};

template <class T> Result<T> Runtime::Engine::block(Begin<T> begin) {
    if (*over_) return std::unexpected(runtime::ended());
    auto const wait = std::make_shared<runtime::Blocked::Wait<T>>();
    runtime::Reply<T> reply(
        [this, wait](Result<T> result) { blocked_.answer(*wait, std::move(result)); });
    loop_.post([begin = std::move(begin), reply = std::move(reply)]() mutable {
        begin(std::move(reply));
    });
    return blocked_.wait(*wait);
}

template <class T> void Runtime::Engine::run(Begin<T> begin, Completion<T> done) {
    auto const then = std::make_shared<Completion<T>>(std::move(done));
    runtime::Reply<T> reply([this, then](Result<T> result) {
        auto const kept = std::make_shared<Result<T>>(std::move(result));
        auto queued =
            threads_.run([then, kept](std::stop_token const&) { (*then)(std::move(*kept)); });
        if (!queued) (*then)(std::unexpected(std::move(queued.error())));
    });
    if (*over_) return reply(std::unexpected(runtime::ended()));
    loop_.post([begin = std::move(begin), reply = std::move(reply)]() mutable {
        begin(std::move(reply));
    });
}

}  // namespace dormouse
