#include "io/loop.h"

#include "io/asio.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace dormouse::io {

namespace {

// A task that finds no memory ends, and what it held is dropped: requests answer 500 then. The
// others go on.
void run_task(port::Fn<void()>& work) {
    try {
        work();
    } catch (std::bad_alloc const&) {  // NOLINT(bugprone-empty-catch): see above
    }
}

}  // namespace

struct AsioLoop::Impl {
    // Protected by `mutex`. Declared before the context, so that what the context destroys may
    // still post.
    std::mutex mutex;
    std::vector<port::Fn<void()>> queue;
    bool woken = false;   // a drain() is on its way
    bool ending = false;  // the loop is being destroyed: posts are dropped

    // One thread runs it; posts from others still take the scheduler's lock.
    boost::asio::io_context context{1};

    void drain() {
        std::vector<port::Fn<void()>> batch;
        {
            std::scoped_lock const lock(mutex);
            batch.swap(queue);
            woken = false;
        }
        for (auto& work : batch) run_task(work);
    }
};

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>()) {}

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

void AsioLoop::after(Duration delay, port::Fn<void()> work) {
    auto timer = std::make_unique<boost::asio::steady_timer>(impl_->context, delay);
    auto& waiting = *timer;
    waiting.async_wait(
        [timer = std::move(timer), work = std::move(work)](auto const& error) mutable {
            if (!error) work();
        });
}

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
