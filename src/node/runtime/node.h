#pragma once
// The composition root: one place makes everything that runs the sessions of a process. A Runtime
// of the library has a node, and `dormouse serve` has one. Its owner fills the registry with agents
// and tools, starts the runner and runs the loop.

#include "agent/catalogue.h"
#include "agent/effects.h"
#include "io/clock.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "io/store_thread.h"
#include "io/thread_workers.h"
#include "runner/counted.h"
#include "runner/runner.h"
#include "runtime/ending_effects.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace dormouse::runtime {

// What models and tools reach the outside with. It outlives the registry that holds them.
struct World {
    io::MovableClock clock;  // only tests of the program move it (io/clock_control.h)
    io::AsioLoop loop{clock};
    io::SystemEntropy entropy;
    io::CurlHttpClient http{loop};
};

// What else runs on a node's loop and is shut down with it: the HTTP server. It observes the
// runner as long as it is attached.
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

// A directory, made if it does not exist; ":memory:" keeps nothing.
[[nodiscard]] Result<std::unique_ptr<port::Store>> open_store(std::string const& place);

class Node final : private runner::Observer {
public:
    struct Settings {
        io::ToolThreads::Options threads = {};
        runner::Options runner = {};  // without what the store and what is attached say
        // Provisional text of replies; empty: for what is attached only.
        std::function<void(SessionId, port::Delta const&)> text = {};
    };

    // `world` outlives this. Throws std::system_error when no thread can be started.
    Node(World& world, std::unique_ptr<port::Store> store, Settings settings);
    ~Node() override = default;
    Node(Node const&) = delete;
    Node& operator=(Node const&) = delete;

    // On the loop: takes no more requests and commands; ends the loop when everything on its way
    // has arrived, or `limit` has passed.
    void end(Duration limit);
    // On the loop. It outlives this, or nullptr is given first: then nothing is counted.
    void count_by(port::Meter* meter);
    [[nodiscard]] std::vector<port::ModelLoad> models() const {
        return agent::model_loads(registry, effects.models());
    }

private:
    [[nodiscard]] static runner::Options with_store(runner::Options options, Node& node);

    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override {
        if (attached) attached->delta(session, ask, delta);
        if (text_) text_(session, delta);
    }
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        if (attached) attached->appended(lane, records);
    }
    void posted() override {
        if (attached) attached->posted();
    }
    void delivered(session::PostKey const& key, Result<session::Answer> const& answer) override {
        if (attached) attached->delivered(key, answer);
    }
    void swept(std::size_t sessions) override {
        if (attached) attached->swept(sessions);
    }
    void failed() override {
        if (attached) attached->failed();
    }

    std::function<void(SessionId, port::Delta const&)> const text_;

public:
    World& world;
    io::ToolThreads threads;
    std::stop_source ending;  // models and tools are asked to stop, because the node ends
    std::unique_ptr<port::Store> const store;
    agent::Registry registry;  // filled before the runner starts
    io::ThreadWorkers workers{threads, world.loop};
    io::ToolThreads body_threads{{.threads = 1, .name = "body"}};
    io::ThreadWorkers bodies{body_threads, world.loop};  // for work on large values
    agent::RegistryCatalogue catalogue{registry, &workers};
    agent::AgentEffects effects;
    io::StoreThread store_thread{*store, world.loop};
    EndingEffects ending_effects{
        effects, ending.get_token(),
        [this](SessionId session, session::EffectId id) { runner.forget_effect(session, id); }};
    runner::CountedEffects counted_effects{ending_effects};
    runner::CountedJournal journal{store_thread, world.clock};
    port::Meter* meter = nullptr;  // nullptr: nothing is counted
    runner::Runner runner;
    std::unique_ptr<Attached> attached;  // null: nothing. On the loop
};

}  // namespace dormouse::runtime
