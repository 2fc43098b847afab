#include "io/loop.h"

#include "io/asio.h"
#include "io/clock.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace dormouse::io {

namespace {

// The longest time that the machine's timer waits before the loop reads its clock again.
constexpr Duration alarm_max{3'600'000};

// A task that runs out of memory ends, and what it held is dropped: requests then answer 500. Other
// tasks continue.
void run_task(port::Fn<void()>& work) {
    try {
        work();
    } catch (std::bad_alloc const&) {  // NOLINT(bugprone-empty-catch): see above
    }
}

}  // namespace

struct AsioLoop::Impl {
    explicit Impl(port::Clock const* given) : clock(given ? *given : machine) {}

    SystemClock const machine{};
    port::Clock const& clock;

    // Protected by `mutex`. Declared before the context, because what the context destroys may
    // still post.
    std::mutex mutex;
    std::vector<port::Fn<void()>> queue;
    bool woken = false;   // a drain() is scheduled
    bool ending = false;  // the loop is being destroyed: posts are dropped

    // One thread runs it; posts from other threads need the scheduler's lock.
    boost::asio::io_context context{1};
    boost::asio::steady_timer alarm{context};           // for the first of `delayed`
    bool armed = false;                                 // the alarm is set
    std::multimap<Duration, port::Fn<void()>> delayed;  // by monotonic time

    void drain() {
        std::vector<port::Fn<void()>> batch;
        {
            std::scoped_lock const lock(mutex);
            batch.swap(queue);
            woken = false;
        }
        for (auto& work : batch) run_task(work);
        if (!armed) set_alarm();  // setting it may have run out of memory
    }

    void add(Duration delay, port::Fn<void()> work) {
        Duration const now = clock.monotonic();
        auto const due = now + std::min(delay, Duration::max() - now);
        auto const place = delayed.emplace(due, std::move(work));
        if (place == delayed.begin() || !armed) set_alarm();
    }

    void set_alarm() {
        armed = false;
        if (delayed.empty()) return;
        auto const left = delayed.begin()->first - clock.monotonic();
        alarm.expires_after(std::clamp(left, Duration(0), alarm_max));
        alarm.async_wait([this](auto const& error) {
            if (!error) run_due();
        });
        armed = true;
    }

    // Does not run work that this work adds: it waits for the next call.
    void run_due() {
        auto const end = delayed.upper_bound(clock.monotonic());
        std::multimap<Duration, port::Fn<void()>> due;
        while (delayed.begin() != end) due.insert(due.end(), delayed.extract(delayed.begin()));
        for (auto& [when, work] : due) run_task(work);
        set_alarm();
    }
};

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>(nullptr)) {}

AsioLoop::AsioLoop(port::Clock const& clock) : impl_(std::make_unique<Impl>(&clock)) {}

AsioLoop::~AsioLoop() {
    std::vector<port::Fn<void()>> dropped;
    std::scoped_lock const lock(impl_->mutex);
    impl_->ending = true;
    dropped.swap(impl_->queue);
}

void AsioLoop::post(port::Fn<void()> work) {
    {
        std::scoped_lock const lock(impl_->mutex);
        if (impl_->ending) return;
        impl_->queue.push_back(std::move(work));
        if (std::exchange(impl_->woken, true)) return;
    }
    boost::asio::post(impl_->context, [impl = impl_.get()] { impl->drain(); });
}

void AsioLoop::after(Duration delay, port::Fn<void()> work) { impl_->add(delay, std::move(work)); }

void AsioLoop::run_due() { impl_->run_due(); }

void AsioLoop::run() {
    auto const stays = boost::asio::make_work_guard(impl_->context);
    impl_->context.restart();
    for (;;) {
        try {
            impl_->context.run();
            return;
        } catch (std::bad_alloc const&) {  // NOLINT(bugprone-empty-catch): as of run_task()
        }
    }
}

void AsioLoop::stop() { impl_->context.stop(); }

boost::asio::io_context& context_of(AsioLoop& loop) { return loop.impl().context; }

}  // namespace dormouse::io
