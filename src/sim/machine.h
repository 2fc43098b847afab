#pragma once
// A machine with one process: the loop and the clocks of that process. The machine and its clocks
// outlive the process.

#include "sim/world.h"

#include <vector>

namespace dormouse::sim {

class Machine final : public port::Loop, public port::Clock {
public:
    // `world` must outlive this object.
    explicit Machine(World& world) : world_(world) {}

    void post(port::Fn<void()> work) override { after(Duration(0), std::move(work)); }
    void after(Duration delay, port::Fn<void()> work) override {
        world_.inside(*this, delay, std::move(work));
    }
    [[nodiscard]] Time now() const override { return epoch + world_.elapsed() + wrong_by_; }
    // Continues while the process is frozen, as CLOCK_BOOTTIME does.
    [[nodiscard]] Duration monotonic() const override { return world_.elapsed(); }

    [[nodiscard]] World& world() { return world_; }
    void step_clock(Duration by) { wrong_by_ += by; }
    void correct_clock() { wrong_by_ = Duration(0); }

    // Act like SIGSTOP and SIGCONT: work that falls due meanwhile runs when the process continues.
    void freeze() { frozen_ = true; }
    void thaw();
    [[nodiscard]] bool frozen() const { return frozen_; }
    // Drops the work of the process. Must not be called by that work.
    void kill();

    // Called by the world: runs work that is due now, or keeps it while the process is frozen.
    void run(port::Fn<void()> work);

private:
    static constexpr Time epoch = from_ms(1'700'000'000'000);

    World& world_;
    Duration wrong_by_{0};  // of the wall clock
    bool frozen_ = false;
    std::vector<port::Fn<void()>> late_;  // fell due while frozen, in order
};

}  // namespace dormouse::sim
