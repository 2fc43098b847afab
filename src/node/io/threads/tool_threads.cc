#include "io/threads/tool_threads.h"

#include "base/check.h"

#include "io/process/no_signals.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace dormouse::io {

namespace {

// Longer than any wait; clock arithmetic would overflow beyond some centuries.
constexpr Duration longest_wait = std::chrono::years(1);

}  // namespace

ToolThreads::ToolThreads(Options options) : options_(std::move(options)) {
    options_.threads_max = std::max(options_.threads, options_.threads_max);
    options_.name.resize(std::min<std::size_t>(options_.name.size(), 15));
    std::scoped_lock const lock(mutex_);
    add_thread();
}

ToolThreads::~ToolThreads() { stop(); }

Result<ToolJob> ToolThreads::run(Job job) {
    std::stop_source source;
    {
        std::scoped_lock const lock(mutex_);
        if (ending_) return fail(Code::draining, "the tool threads accept no more jobs");
        if (queue_.size() >= options_.queue_max)
            return fail(Code::queue_full,
                        std::to_string(options_.queue_max) + " tool calls wait for a thread");
        queue_.push_back({std::move(job), source});
        grow();
    }
    wake_.notify_one();
    return ToolJob(std::move(source));
}

// Caller holds the lock.
void ToolThreads::add_thread() {
    NoSignals const none;
    running_.emplace_back(std::nostopstate);
    threads_.emplace_back([this, slot = threads_.size()] { serve(slot); });
    ::pthread_setname_np(threads_.back().native_handle(), options_.name.c_str());
}

// Caller holds the lock. Starts a thread if a job has none and the limits allow it.
void ToolThreads::grow() {
    bool const wanted = queue_.size() > threads_.size() - working_;
    bool const allowed =
        threads_.size() < options_.threads_max && threads_.size() - waiting_ < options_.threads;
    if (!wanted || !allowed || ending_) return;
    try {
        add_thread();
    } catch (std::system_error const&) {
        running_.resize(threads_.size(), std::stop_source(std::nostopstate));
        // The existing threads run the job later.
    }
}

void ToolThreads::refuse_more() {
    {
        std::scoped_lock const lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
}

void ToolThreads::drain() {
    CHECK(!is_own_thread());
    refuse_more();
    for (auto& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

void ToolThreads::request_stop() {
    std::vector<std::stop_source> stopping;
    {
        std::scoped_lock const lock(mutex_);
        stopping = running_;
        for (auto const& entry : queue_) stopping.push_back(entry.source);
    }
    // Outside the lock: stop callbacks are code of the embedding program.
    for (auto& source : stopping) source.request_stop();
}

void ToolThreads::stop() {
    refuse_more();
    request_stop();
    drain();
}

bool ToolThreads::stop_within(Duration limit) {
    refuse_more();
    request_stop();
    {
        std::unique_lock lock(mutex_);
        auto const all_gone = [this] { return ended_ == threads_.size(); };
        if (!gone_.wait_for(lock, std::clamp(limit, Duration(), longest_wait), all_gone))
            return false;
    }
    drain();
    return true;
}

std::size_t ToolThreads::queued() const {
    std::scoped_lock const lock(mutex_);
    return queue_.size();
}

bool ToolThreads::owns_this_thread() const {
    auto const self = std::this_thread::get_id();
    return std::ranges::any_of(threads_,
                               [&](std::thread const& one) { return one.get_id() == self; });
}

bool ToolThreads::is_own_thread() const {
    std::scoped_lock const lock(mutex_);
    return owns_this_thread();
}

ToolThreads::Waiting::Waiting(ToolThreads& pool) : pool_(nullptr) {
    {
        std::scoped_lock const lock(pool.mutex_);
        if (!pool.owns_this_thread()) return;
        pool_ = &pool;
        ++pool.waiting_;
        pool.grow();
    }
    pool.wake_.notify_one();
}

ToolThreads::Waiting::~Waiting() {
    if (!pool_) return;
    std::scoped_lock const lock(pool_->mutex_);
    --pool_->waiting_;
}

void ToolThreads::serve(std::size_t slot) {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return queue_.empty() ? ending_ : may_begin(); });
        if (queue_.empty()) break;
        {
            Entry entry = std::move(queue_.front());
            queue_.pop_front();
            running_[slot] = entry.source;
            ++working_;
            // The queue is empty: threads that wait for a job must end.
            if (ending_ && queue_.empty()) wake_.notify_all();
            lock.unlock();
            entry.job(entry.source.get_token());
        }
        lock.lock();
        running_[slot] = std::stop_source(std::nostopstate);
        --working_;
    }
    ++ended_;
    gone_.notify_all();
}

}  // namespace dormouse::io
