#pragma once
// Planted bugs: wrappers around ports that break a promise as a bug in the runner would. Each
// proves that a checker finds what it checks for.

#include "port/nodes.h"
#include "port/passing_effects.h"
#include "sim/machine.h"
#include "store/memory/memory_store.h"

namespace dormouse::sim {

enum class Bug : std::uint8_t {
    none,
    ack_before_durable,    // a commit is reported as done when it is requested
    failure_swallowed,     // a failed commit is reported as done
    fail_stop_hidden,      // a store that will never write again reports a temporary error
    wake_forgotten,        // some appends do not write the wake-up time
    keys_forgotten,        // requests are not found by their key
    rows_forgotten,        // settled pending calls are not found
    outbox_forgotten,      // outbox messages are kept only in memory
    epoch_not_counted,     // a new process writes under the epoch of its predecessor
    effect_started_twice,  // some tools
    effect_before_intent,  // a tool runs as soon as the model asks for it
    effect_not_started,    // some tools
    timer_lost,            // delayed work is dropped
    // With several processes:
    no_fence,          // the store takes appends of a process that is gone
    driver_ignored,    // a process decides although another drives the session
    memory_trusted,    // answers are not compared with the store
    starts_unchecked,  // effects start although the others may have taken over
    intent_undriven,   // a process that does not drive a session writes intents
    stamp_ignored,     // the store compares the head of an append alone
    signals_trusted,   // what others append is read only when they say so
    runs_forgotten,    // a process knows of its runs only what the store holds
};

class PlantedJournal final : public port::Journal {
public:
    // All arguments must outlive this object.
    PlantedJournal(Machine& machine, port::Journal& inner, Bug bug)
        : machine_(machine), inner_(inner), bug_(bug) {}

    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<port::AppendResult>)> done) override;
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override {
        inner_.write(std::move(work), std::move(done));
    }
    void read(port::ReadKey key, port::Fn<void(port::Store&)> work,
              port::Fn<void()> done) override {
        inner_.read(key, std::move(work), std::move(done));
    }

private:
    void spoil(port::Append& append);

    Machine& machine_;
    port::Journal& inner_;
    Bug const bug_;
};

class PlantedEffects final : public port::PassingEffects {
public:
    // All arguments must outlive this object.
    PlantedEffects(World& world, port::Effects& inner, Bug bug)
        : PassingEffects(inner), world_(world), bug_(bug) {}

    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;

private:
    void run_at_once(SessionId session, session::ModelReply const& reply);

    World& world_;
    Bug const bug_;
};

class PlantedLoop final : public port::Loop {
public:
    // All arguments must outlive this object.
    PlantedLoop(Machine& machine, Bug bug) : machine_(machine), bug_(bug) {}

    void post(port::Fn<void()> work) override { machine_.post(std::move(work)); }
    void after(Duration delay, port::Fn<void()> work) override {
        if (bug_ == Bug::timer_lost && delay > Duration(0)) return;
        machine_.after(delay, std::move(work));
    }

private:
    Machine& machine_;
    Bug const bug_;
};

// REQUIRES, with a bug of several processes: `shared`.
class PlantedStore : public store::MemoryStore {
public:
    PlantedStore(std::shared_ptr<store::MemoryDisk> disk, bool shared, Bug bug)
        : MemoryStore(disk, feed_kept, shared), disk_(std::move(disk)), bug_(bug) {}

    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override;

private:
    static constexpr std::size_t feed_kept = 100'000;

    std::shared_ptr<store::MemoryDisk> const disk_;
    Bug const bug_;
};

class PlantedNodes final : public port::Nodes {
public:
    // `inner` must outlive this object.
    PlantedNodes(port::Nodes& inner, Bug bug) : inner_(inner), bug_(bug) {}

    [[nodiscard]] Epoch epoch() const override {
        return bug_ == Bug::epoch_not_counted ? 1 : inner_.epoch();
    }
    [[nodiscard]] std::string const& name() const override { return inner_.name(); }
    [[nodiscard]] bool alone() const override {
        return bug_ == Bug::memory_trusted || inner_.alone();
    }
    [[nodiscard]] bool gone(Epoch epoch) const override {
        bool const all = bug_ == Bug::driver_ignored || bug_ == Bug::intent_undriven;
        return all || inner_.gone(epoch);
    }
    [[nodiscard]] bool works(Epoch epoch) const override { return inner_.works(epoch); }
    [[nodiscard]] bool may_start() const override {
        return bug_ == Bug::starts_unchecked || inner_.may_start();
    }
    [[nodiscard]] bool has_share(std::uint64_t number) const override {
        return inner_.has_share(number);
    }
    [[nodiscard]] bool leads() const override { return inner_.leads(); }
    [[nodiscard]] bool held() const override { return inner_.held(); }
    void rejoin(port::Fn<void()> done) override { inner_.rejoin(std::move(done)); }

private:
    port::Nodes& inner_;
    Bug const bug_;
};

// Returns true if only several processes can show the bug.
[[nodiscard]] bool needs_processes(Bug bug);
// Returns true if only a disk that loses its newest writes can show the bug.
[[nodiscard]] bool needs_fall_back(Bug bug);

}  // namespace dormouse::sim
