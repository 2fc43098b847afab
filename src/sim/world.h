#pragma once
// Virtual time and randomness, determined by one seed: equal seeds give equal runs. Work waits in
// it for its time. Some belongs to the process on a machine (machine.h), and is dropped with the
// process, as its memory would be; work outside (clients, kills) continues.

#include "port/world.h"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string_view>

namespace dormouse::sim {

class Machine;

class World final : public port::Entropy {
public:
    explicit World(std::uint64_t seed) : rng_(seed) {}

    // Schedules work outside all processes.
    void outside(Duration delay, port::Fn<void()> work) { add(delay, nullptr, std::move(work)); }
    // Schedules work of the process on `owner`, which outlives the work.
    void inside(Machine& owner, Duration delay, port::Fn<void()> work) {
        add(delay, &owner, std::move(work));
    }
    // Drops the work of the process on `owner`. Must not be called by that work.
    void drop(Machine const& owner);

    // Time passed since the beginning, as no machine of the world can know it.
    [[nodiscard]] Duration elapsed() const { return elapsed_; }
    [[nodiscard]] Random random() override;

    // Randomness. REQUIRES: most >= least, n > 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t n) { return rng_() % n; }
    [[nodiscard]] bool happens(unsigned per_mille) { return below(1'000) < per_mille; }
    [[nodiscard]] Duration between(Duration least, Duration most);

    // Time passes and nothing runs, as if everything were suspended: what falls due is late.
    void leap(Duration by) { elapsed_ += by; }
    // Runs what falls due in `time`, then stops the clock there. If the work of one instant never
    // ends, drops all work.
    void run_for(Duration time);
    // The work of one instant did not end.
    [[nodiscard]] bool spins() const { return spins_; }
    // Time until the next work outside all processes; nullopt: none.
    [[nodiscard]] std::optional<Duration> next_outside() const;

    // Strictly increasing instants, for histories.
    [[nodiscard]] std::uint64_t instant() { return ++instant_; }
    // Adds to the hash that two runs of one seed must share.
    void trace(std::string_view what);
    [[nodiscard]] std::uint64_t hash() const { return hash_; }

private:
    struct Work {
        Machine* owner = nullptr;  // null: outside
        port::Fn<void()> run;
    };

    void add(Duration delay, Machine* owner, port::Fn<void()> work);

    std::mt19937_64 rng_;
    std::multimap<Duration, Work> queue_;  // work of one time in the order of scheduling
    Duration elapsed_{0};
    static constexpr std::uint64_t at_one_time_max = 100'000;
    std::uint64_t at_this_time_ = 0;  // work that has run at `elapsed_`
    bool spins_ = false;
    std::uint64_t instant_ = 0;
    std::uint64_t hash_ = 14'695'981'039'346'656'037U;  // FNV-1a
};

}  // namespace dormouse::sim
