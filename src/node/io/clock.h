#pragma once
// The machine's time and randomness.

#include "port/world.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace dormouse::io {

// Any thread.
class SystemClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override;
    [[nodiscard]] Duration monotonic() const override;
};

// The machine's clock plus what advance() has added: zero except in tests. Any thread.
class MovableClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override { return machine_.now() + ahead(); }
    [[nodiscard]] Duration monotonic() const override { return machine_.monotonic() + ahead(); }
    // REQUIRES: by >= 0. Call AsioLoop::run_due() afterwards for a loop's timers.
    void advance(Duration by) { ahead_ += by.count(); }

private:
    [[nodiscard]] Duration ahead() const { return Duration(ahead_.load()); }

    SystemClock machine_;
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
