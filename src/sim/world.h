#pragma once
// A world on virtual time, determined by one seed: loop, clock and randomness. Equal seeds give
// equal runs.
//
// Two kinds of work wait in it. Work of port::Loop belongs to the running process and is dropped
// when it is killed, as its memory would be. Work outside (clients, kills) continues.

#include "port/world.h"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string_view>

namespace dormouse::sim {

class World final : public port::Loop, public port::Clock, public port::Entropy {
public:
    explicit World(std::uint64_t seed) : rng_(seed) {}

    // port::Loop, for the process.
    void post(port::Fn<void()> work) override { after(Duration(0), std::move(work)); }
    void after(Duration delay, port::Fn<void()> work) override;
    // Schedules work outside the process.
    void outside(Duration delay, port::Fn<void()> work);

    [[nodiscard]] Time now() const override { return epoch + elapsed_ + step_; }
    [[nodiscard]] Duration monotonic() const override { return elapsed_; }
    [[nodiscard]] Random random() override;

    // Randomness. REQUIRES: most >= least, n > 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t n) { return rng_() % n; }
    [[nodiscard]] bool happens(unsigned per_mille) { return below(1'000) < per_mille; }
    [[nodiscard]] Duration between(Duration least, Duration most);

    // Drops the work of the process. Must not be called by that work.
    void kill();
    void step_clock(Duration by) { step_ += by; }
    // Time passes and nothing runs, as on a suspended machine: what falls due meanwhile is late.
    void leap(Duration by) { elapsed_ += by; }
    // Runs what falls due in `time`, then stops the clock there.
    void run_for(Duration time);
    // Time until the next work outside the process; nullopt: none.
    [[nodiscard]] std::optional<Duration> next_outside() const;

    // Strictly increasing instants, for histories.
    [[nodiscard]] std::uint64_t instant() { return ++instant_; }
    // Adds to the hash that two runs of one seed must share.
    void trace(std::string_view what);
    [[nodiscard]] std::uint64_t hash() const { return hash_; }

private:
    static constexpr Time epoch = from_ms(1'700'000'000'000);

    struct Work {
        bool outside = false;
        port::Fn<void()> run;
    };

    std::mt19937_64 rng_;
    std::multimap<Duration, Work> queue_;  // work of one time in the order of scheduling
    Duration elapsed_{0};
    Duration step_{0};
    std::uint64_t instant_ = 0;
    std::uint64_t hash_ = 14'695'981'039'346'656'037U;  // FNV-1a
};

}  // namespace dormouse::sim
