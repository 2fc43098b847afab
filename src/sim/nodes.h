#pragma once
// The processes that share a disk, as one of them knows them by its heartbeats: the counterpart of
// the table of nodes in a database. Only a process whose own heartbeats succeed may
// declare another one dead.

#include "port/nodes.h"
#include "runner/membership.h"
#include "sim/machine.h"
#include "store/memory/memory_store.h"

#include <functional>
#include <map>

namespace dormouse::sim {

// One counter for each process, as stored. A process that counts no more is gone some time later.
using Beats = std::map<Epoch, std::uint64_t>;

class SharedNodes final : public port::Nodes {
public:
    struct Listener {
        std::function<void()> beaten;  // the store has a heartbeat after the first one
        std::function<void()> fenced;  // the store does not know this process any more
    };
    // All arguments must outlive this object. `failed`: of each heartbeat, in per mille. Nothing of
    // this runs after Machine::kill().
    SharedNodes(Machine& machine, store::MemoryStore& store, Beats& beats, unsigned const& failed,
                Listener listener);

    [[nodiscard]] Epoch epoch() const override { return store_.epoch(); }
    [[nodiscard]] std::string const& name() const override { return name_; }
    [[nodiscard]] bool alone() const override { return false; }
    [[nodiscard]] bool gone(Epoch epoch) const override { return members_.gone(epoch); }
    [[nodiscard]] bool works(Epoch epoch) const override { return members_.works(epoch); }
    [[nodiscard]] bool may_start() const override {
        return members_.may_start(machine_.monotonic());
    }
    [[nodiscard]] bool has_share(std::uint64_t number) const override {
        return members_.has_share(epoch(), number);
    }
    [[nodiscard]] bool leads() const override { return members_.leads(epoch()); }
    [[nodiscard]] bool held() const override { return false; }
    void rejoin(port::Fn<void()> done) override;

    // While the network is cut no heartbeat arrives.
    void cut(bool cut) { cut_ = cut; }

private:
    void beat();
    // False: the store does not know this process.
    [[nodiscard]] bool arrived(Duration sent);

    Machine& machine_;
    store::MemoryStore& store_;
    Beats& beats_;
    unsigned const& failed_;
    Listener const listener_;
    std::uint64_t sent_ = 0;  // heartbeats, counted by the process: the disk may lose the newest
    bool cut_ = false;
    std::string const name_ = "sim";
    runner::Membership members_;
};

}  // namespace dormouse::sim
