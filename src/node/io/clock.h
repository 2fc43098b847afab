#pragma once
// Time and randomness of the machine.

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

// The machine's clock, ahead by what advance() has added: zero, unless a test says so. Any thread.
class MovableClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override { return machine_.now() + ahead(); }
    [[nodiscard]] Duration monotonic() const override { return machine_.monotonic() + ahead(); }
    // REQUIRES: by >= 0. Timers of a loop see it with AsioLoop::run_due().
    void advance(Duration by) { ahead_ += by.count(); }

private:
    [[nodiscard]] Duration ahead() const { return Duration(ahead_.load()); }

    SystemClock machine_;
    std::atomic<Duration::rep> ahead_ = 0;
};

// Randomness of the kernel (getrandom), fetched 4 KiB at a time; what was handed out is wiped. One
// thread; not to be used on both sides of a fork(), which would hand out the same bytes twice.
class SystemEntropy final : public port::Entropy {
public:
    [[nodiscard]] Random random() override;

private:
    void refill();

    std::array<std::uint8_t, 4096> buffer_{};
    std::size_t used_ = buffer_.size();
};

}  // namespace dormouse::io
