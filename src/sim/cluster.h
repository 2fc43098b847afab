#pragma once
// The processes of a run, one on each machine: starts them, and ends, freezes and cuts them off at
// random until calm_down(). A process that ends is started again by its supervisor.

#include "sim/clients.h"
#include "sim/process.h"

#include <array>

namespace dormouse::sim {

class Cluster {
public:
    static constexpr std::size_t processes_max = 3;

    // All arguments must outlive this object.
    Cluster(World& world, Durable& durable, Findings& findings, Knobs const& knobs, Bug bug);

    void open();
    // Schedules the faults of the busy time.
    void plan_faults();
    // No fault begins any more; those under way end, clocks are right from now on, and some
    // processes are replaced.
    void calm_down();
    // Kills all; none starts again.
    void end();

    // One that accepts requests now, at random.
    [[nodiscard]] Clients::Server server();
    // All processes that live.
    [[nodiscard]] std::vector<Process*> live();
    [[nodiscard]] bool any() const;
    // The effect runs in a process.
    [[nodiscard]] bool has_started(SessionId session, session::EffectId effect) const;
    // The wall clock that is farthest behind, of machines with a live process; none: the latest
    // known.
    [[nodiscard]] Time now() const;
    // P10: a store that cannot write any more must end the process. Call once a second.
    void watch_stores();

    [[nodiscard]] std::shared_ptr<store::MemoryDisk> const& disk() const { return disk_; }
    [[nodiscard]] std::uint64_t kills() const { return kills_; }
    [[nodiscard]] std::uint64_t effects() const { return started_.effects; }

private:
    struct Place {
        Machine machine;
        std::size_t number;  // from 0
        std::unique_ptr<Process> process = {};
        int stopped_for = 0;  // seconds since its store failed for good
    };

    void open(Place& place);
    void kill(Place& place, Duration down);
    void kill_now(Place& place);
    // Tells the other processes that this one has appended, unless that is lost.
    void signal_others(Place const& place);
    void plan_kill(Place& place);
    void plan_clock_step(Place& place);
    void plan_break();
    void plan_freeze(Place& place);
    void plan_cut(Place& place);
    void plan_fall_back();
    void fall_back(store::MemoryData disk, Beats beats, Durable::Copy durable);
    [[nodiscard]] std::uint64_t first_number(Place const& place) const;

    World& world_;
    Durable& durable_;
    Findings& findings_;
    Knobs const& knobs_;
    Bug const bug_;
    std::shared_ptr<store::MemoryDisk> disk_ = std::make_shared<store::MemoryDisk>();
    Beats beats_;
    Started started_;
    std::vector<std::unique_ptr<Place>> places_;
    bool calm_ = false;
    std::uint64_t kills_ = 0;
};

}  // namespace dormouse::sim
