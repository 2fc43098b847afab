#include "cli/client/patience.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace dormouse::cli {

Patience::Patience(Interrupts const& interrupts, std::optional<Duration> limit)
    : limit_(limit),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      either_(epoll_create1(EPOLL_CLOEXEC)) {
    for (int const fd : {interrupts.fd(), timer_.get()}) {
        epoll_event event{.events = EPOLLIN, .data = {}};
        epoll_ctl(either_.get(), EPOLL_CTL_ADD, fd, &event);
    }
}

void Patience::begin() const {
    if (!limit_) return;
    constexpr std::int64_t ms_per_s = 1'000;
    constexpr std::int64_t ns_per_ms = 1'000'000;
    itimerspec when{};
    when.it_value.tv_sec = limit_->count() / ms_per_s;
    when.it_value.tv_nsec = limit_->count() % ms_per_s * ns_per_ms + 1;  // 0 would be never
    timerfd_settime(timer_.get(), 0, &when, nullptr);
}

bool Patience::is_over() const {
    pollfd waiting{timer_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) > 0;
}

}  // namespace dormouse::cli
