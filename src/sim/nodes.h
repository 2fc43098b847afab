#pragma once
// The processes that share a disk, as one of them knows them by its heartbeats: the counterpart of
// the table of nodes in a database. Only a process whose own heartbeats succeed may take another
// for gone.

#include "port/nodes.h"
#include "sim/machine.h"
#include "store/memory/memory_store.h"

#include <map>
#include <optional>
#include <set>

namespace dormouse::sim {

// One counter for each process, as stored. A process that counts no more is gone some time later.
using Beats = std::map<Epoch, std::uint64_t>;

class SharedNodes final : public port::Nodes {
public:
    // All arguments must outlive this object. `failed`: of each heartbeat, in per mille. Nothing of
    // this runs after Machine::kill().
    SharedNodes(Machine& machine, store::MemoryStore& store, Beats& beats, unsigned const& failed);

    [[nodiscard]] Epoch epoch() const override { return store_.epoch(); }
    [[nodiscard]] bool alone() const override { return false; }
    [[nodiscard]] bool gone(Epoch epoch) const override;
    [[nodiscard]] bool may_start() const override;
    void rejoin(port::Fn<void()> done) override;

    // While the network is cut no heartbeat arrives.
    void cut(bool cut) { cut_ = cut; }

private:
    struct Other {
        std::uint64_t counter = 0;
        Duration since{0};  // the counter has not changed since this time of ours
    };

    void beat();
    void arrived(Duration sent);
    void judge(Duration now);

    Machine& machine_;
    store::MemoryStore& store_;
    Beats& beats_;
    unsigned const& failed_;
    bool cut_ = false;
    std::optional<Duration> sent_ = {};   // the newest heartbeat that arrived
    std::optional<Duration> since_ = {};  // heartbeats have arrived without a gap since
    std::map<Epoch, Other> others_;
    std::set<Epoch> known_;  // those that took part at the newest heartbeat
    Epoch newest_ = 0;       // of all that ever took part, as far as this process knows
};

}  // namespace dormouse::sim
