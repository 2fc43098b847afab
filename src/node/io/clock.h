#pragma once
// The machine's time and randomness.

#include "base/check.h"
#include "port/world.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace dormouse::io {

// Any thread.
class SystemClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override;
    [[nodiscard]] Duration monotonic() const override;
};

// The time since the machine started, also while it slept. Nobody sets this clock. Any thread.
[[nodiscard]] Duration boot_time();

// The machine's clock, or another one that it follows, plus what advance() has added: zero except
// in tests. Any thread.
class MovableClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override;
    [[nodiscard]] Duration monotonic() const override { return machine_.monotonic() + ahead(); }
    // Makes the wall time follow a clock that showed `at_boot` when boot_time() was 0, independent
    // of the machine's clock.
    void follow(Time at_boot) { at_boot_ = to_ms(at_boot); }
    // REQUIRES: by >= 0. Call AsioLoop::run_due() afterwards for a loop's timers.
    void advance(Duration by) {
        CHECK(by.count() >= 0);
        ahead_ += by.count();
    }

private:
    static constexpr std::int64_t own = std::numeric_limits<std::int64_t>::min();

    [[nodiscard]] Duration ahead() const { return Duration(ahead_.load()); }

    SystemClock machine_;
    std::atomic<std::int64_t> at_boot_ = own;  // of the clock it follows, in ms
    std::atomic<Duration::rep> ahead_ = 0;
};

// The kernel's randomness (getrandom), fetched 4 KiB at a time; bytes are wiped once used. One
// thread; must not be used on both sides of a fork(), which would return the same bytes twice.
class SystemEntropy final : public port::Entropy {
public:
    [[nodiscard]] Random random() override;

private:
    void refill();

    std::array<std::uint8_t, 4096> buffer_{};
    std::size_t used_ = buffer_.size();
};

}  // namespace dormouse::io
