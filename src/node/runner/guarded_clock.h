#pragma once
// Wall time for decisions. If it jumps ahead of monotonic time by more than a minute, the old
// offset is kept for a minute, so that a clock step expires nothing at once (rule 9).

#include "port/world.h"

namespace dormouse::runner {

class GuardedClock {
public:
    static constexpr Duration jump{60'000};
    static constexpr Duration hold{60'000};

    explicit GuardedClock(port::Clock const& clock)
        : clock_(clock), offset_(to_ms(clock.now()) - clock.monotonic().count()) {}

    [[nodiscard]] Time now() const {
        auto const mono = clock_.monotonic();
        auto const wall = clock_.now();
        auto const offset = to_ms(wall) - mono.count();
        bool const ahead = offset - offset_ > jump.count();
        if (!ahead) {
            offset_ = offset;
            guarded_until_ = {};
            return wall;
        }
        if (guarded_until_ == Duration{}) guarded_until_ = mono + hold;
        if (mono >= guarded_until_) {
            offset_ = offset;
            guarded_until_ = {};
            return wall;
        }
        return from_ms(mono.count() + offset_);
    }

    // A jump was seen, and expiries wait.
    [[nodiscard]] bool holding() const { return guarded_until_ != Duration{}; }

private:
    port::Clock const& clock_;
    mutable std::int64_t offset_;  // wall minus monotonic time, in ms
    mutable Duration guarded_until_{};
};

}  // namespace dormouse::runner
