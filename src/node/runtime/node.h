#pragma once
// The composition root: makes everything that runs the sessions of a process. A Runtime has one
// node, and so has `dormouse serve`. The owner fills the registry with agents and tools, starts the
// runner and runs the loop.

#include "agent/catalogue.h"
#include "agent/effects.h"
#include "base/scope.h"
#include "io/clock.h"
#include "io/http/http_client.h"
#include "io/loop.h"
#include "io/threads/store_thread.h"
#include "io/threads/thread_workers.h"
#include "runner/lane/counted.h"
#include "runner/runner.h"
#include "runtime/engine/ending_effects.h"
#include "runtime/nodes/follower.h"
#include "runtime/nodes/shared_nodes.h"
#include "runtime/nodes/signals.h"
#include "runtime/nodes/sole_owner.h"
#include "runtime/stores.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace dormouse::runtime {

// The services that models and tools use outside the node. Outlives the registry that holds them.
struct NodeServices {
    // Follows the clock of a shared store; only tests move it (io/clock_control.h).
    io::MovableClock clock;
    io::AsioLoop loop{clock};
    io::SystemEntropy entropy;
    io::CurlHttpClient http{loop};
};

// Something else that runs on the node's loop and ends with it: the HTTP server. Observes the
// runner while attached.
class Attached : public runner::Observer {
public:
    // Accepts no more requests.
    virtual void stop_accepting() = 0;
    // The runner is no longer used: ends, then calls `done`.
    virtual void end(port::Fn<void()> done) = 0;
    // Another process that shares the store has made this append.
    virtual void appended_elsewhere(port::FeedRow const& row) = 0;
    // Others have made appends that were not reported: readers and waiting requests read again.
    virtual void missed_appends() = 0;
    // Returns true if a request or reader waits here for appends.
    [[nodiscard]] virtual bool awaited() const = 0;
    // The store's reply to a heartbeat of this process, whose epoch is `self`. Shared stores only.
    virtual void on_heartbeat(port::HeartbeatReply const& beat, Epoch self) = 0;
    // A person has released the copy that the shared store is, at another process.
    virtual void released() = 0;
    // Another process that shares the store sent this with Node::publish().
    virtual void on_signal(Epoch from, std::string_view text) = 0;
    // Returns "http://host:port/c/…", which accepts the outcome of that call.
    [[nodiscard]] virtual std::string callback_url(PendingId const& pending) const = 0;
    // See runner::Options::outgoing.
    [[nodiscard]] virtual std::vector<port::OutboxRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) const = 0;
};

class Node final : private runner::Observer {
public:
    struct Settings {
        io::ToolThreads::Options threads = {};
        runner::Options runner = {};  // except what comes from the store and from what is attached
        // Receives provisional text of replies; empty: only what is attached does.
        std::function<void(SessionId, port::Delta const&)> text = {};
    };

    // `services` outlives this. Throws std::system_error if a thread cannot be started.
    Node(NodeServices& services, OpenedStore store, Settings settings);
    ~Node() override = default;
    Node(Node const&) = delete;
    Node& operator=(Node const&) = delete;

    // Before the loop runs, or on it: from now on outstanding work is done. `lost` is called on the
    // loop when another process has taken over the store: nothing can be written any more.
    void start(std::function<void()> lost);
    // On the loop: accepts no more requests and commands; stops the loop when running work has
    // ended, or when `limit` has passed.
    void end(Duration limit);
    // On the loop. Returns true if the store is a restored copy that no person has released.
    [[nodiscard]] bool held() const { return nodes.held(); }
    // On the loop: later starts on this store do not hold. This process still does, until
    // release(). REQUIRES: held().
    void remove_hold(port::Fn<void(Result<void>)> done);
    // On the loop: outstanding work is done from now on.
    void release() { shared ? shared->nodes.release() : owner.release(); }
    // On the loop. Work that starts from now on uses `next`. Work under way ends with the catalogue
    // that it began with.
    void exchange_registry(agent::Registry next);
    // On the loop. `meter` outlives this, or is replaced with nullptr first: then nothing is
    // counted.
    void count_by(port::Meter* meter);
    [[nodiscard]] std::vector<port::ModelLoad> models() const {
        return agent::model_loads(registry, effects.models());
    }

    // On the loop: sends this to the other processes that share the store. It may be lost.
    // REQUIRES: text.size() <= Signals::text_max.
    void publish(std::string_view text);
    // Returns why messages of the others do not arrive; empty: they do.
    [[nodiscard]] std::string channel_failure() const { return channel ? channel->failure() : ""; }
    // Returns why the store takes no heartbeats and so no other writes; nullopt: it does, as far as
    // known.
    [[nodiscard]] std::optional<Error> unwritable() const {
        return shared ? shared->nodes.refusal() : std::nullopt;
    }
    // The processes that share the store; null: this one uses it alone.
    [[nodiscard]] SharedNodes* shared_nodes() { return shared ? &shared->nodes : nullptr; }
    // Returns how long appends of the others have waited for this process to read them; 0: none
    // wait.
    [[nodiscard]] Duration feed_behind() const {
        return shared ? shared->follower.behind() : Duration(0);
    }

private:
    // The parts that work with other processes of a shared store.
    struct Shared {
        explicit Shared(Node& node);
        ~Shared() {  // their jobs use the nodes
            threads.stop();
            signal_threads.stop();
        }

        io::ToolThreads threads{{.threads = 1, .name = "heartbeat"}};
        io::ToolThreads signal_threads{{.threads = 1, .name = "signal"}};
        io::ThreadWorkers thread;
        io::ThreadWorkers signal_thread;
        SharedNodes nodes;
        Signals signals;
        Follower follower;
    };

    [[nodiscard]] static NodeServices& following(NodeServices& services,
                                                 std::optional<Time> at_boot);
    [[nodiscard]] static runner::Options with_store(runner::Options options, Node& node);
    // REQUIRES: shared_store != nullptr.
    [[nodiscard]] port::Channel& signal_channel() const;
    [[nodiscard]] SoleOwner::Ask ask_whether_owned();
    [[nodiscard]] runner::SessionNumbers::Fetch fetch_numbers();
    void start_shared();
    void collect_registries();
    void on_heartbeat(port::HeartbeatReply const& beat);
    [[nodiscard]] bool has_others() const { return shared && shared->nodes.table().size() > 1; }
    void appended_elsewhere(port::FeedRow const& row);
    void missed_appends() {
        if (attached) attached->missed_appends();
    }

    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override {
        if (attached) attached->delta(session, ask, delta);
        if (text_) text_(session, delta);
    }
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        if (attached) attached->appended(lane, records);
        if (has_others()) shared->signals.moved(nodes.epoch());
    }
    void outbox_added() override {
        if (attached) attached->outbox_added();
    }
    void delivered(session::OutboxKey const& key, Result<session::Answer> const& answer) override {
        if (attached) attached->delivered(key, answer);
    }
    void swept(std::size_t sessions) override {
        if (attached) attached->swept(sessions);
    }
    void failed() override {
        if (attached) attached->failed();
    }

    std::function<void(SessionId, port::Delta const&)> const text_;
    std::function<Result<void>()> const end_hold_;  // empty: the store did not hold at its start

public:
    NodeServices& services;
    io::ToolThreads threads;
    std::stop_source ending;  // asks models and tools to stop when the node ends
    std::unique_ptr<port::Store> const store;
    // See OpenedStore.
    std::function<Result<std::optional<port::TokenRow>>(Sha256 const&)> const find_token;
    port::Database* const database;         // below the store; null: there is no server
    port::AuditEnds* const audit_ends;      // of the store; null: it loses no lines
    port::RemovedContents* const removed;   // of the store; null: it has no files
    port::SharedStore* const shared_store;  // the same store; null: this process uses it alone
    std::unique_ptr<port::Channel> const channel;  // null: `shared_store` is the channel
    SharedNodes::Description const described;      // see OpenedStore
    agent::Registry registry;                      // filled before the runner starts
    io::ThreadWorkers workers{threads, services.loop};
    io::ToolThreads body_threads{{.threads = 1, .name = "body"}};
    io::ThreadWorkers bodies{body_threads, services.loop};  // for work on large values
    agent::RegistryCatalogue catalogue{registry, &workers};
    agent::AgentEffects effects;
    io::StoreThread store_thread{*store, services.loop};
    EndingEffects ending_effects{
        effects, ending.get_token(),
        [this](SessionId session, session::EffectId id) { runner.forget_effect(session, id); }};
    runner::CountedEffects counted_effects{ending_effects};
    runner::CountedJournal journal{store_thread, services.clock};
    port::Meter* meter = nullptr;  // nullptr: nothing is counted
    SoleOwner owner{services.loop, store->epoch(), ask_whether_owned()};
    std::unique_ptr<Shared> const shared;  // null: `owner` counts
    port::Nodes& nodes;
    runner::Runner runner;
    std::unique_ptr<Attached> attached;  // null: nothing. On the loop

private:
    bool collecting_ = false;  // collect_registries() is scheduled
    Scope scope_;
};

}  // namespace dormouse::runtime
