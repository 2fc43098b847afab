#include "io/clock.h"

#include "base/check.h"

#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace dormouse::io {

Time SystemClock::now() const {
    return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

Duration SystemClock::monotonic() const {
    return std::chrono::floor<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

Duration boot_time() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return Duration(std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000);
}

Time MovableClock::now() const {
    auto const at_boot = at_boot_.load();
    if (at_boot == own) return machine_.now() + ahead();
    return from_ms(at_boot) + boot_time() + ahead();
}

Random SystemEntropy::random() {
    Random out;
    static_assert(std::tuple_size_v<decltype(buffer_)> % std::tuple_size_v<Random> == 0);
    if (used_ == buffer_.size()) refill();
    auto const from = buffer_.begin() + static_cast<std::ptrdiff_t>(used_);
    std::copy_n(from, out.size(), out.begin());
    std::fill_n(from, out.size(), std::uint8_t{0});
    used_ += out.size();
    return out;
}

void SystemEntropy::refill() {
    std::size_t filled = 0;
    while (filled < buffer_.size()) {
        auto const got = ::getrandom(buffer_.data() + filled, buffer_.size() - filled, 0);
        CHECK(got > 0 || errno == EINTR);
        if (got > 0) filled += static_cast<std::size_t>(got);
    }
    used_ = 0;
}

}  // namespace dormouse::io
