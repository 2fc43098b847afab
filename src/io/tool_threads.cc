#include "io/tool_threads.h"

#include <pthread.h>

#include <utility>

namespace dormouse::io {

ToolThreads::ToolThreads(std::size_t threads)
    : running_(threads, std::stop_source(std::nostopstate)) {
    for (std::size_t slot = 0; slot < threads; ++slot) {
        threads_.emplace_back([this, slot] { serve(slot); });
        ::pthread_setname_np(threads_.back().native_handle(), "tool");
    }
}

ToolThreads::~ToolThreads() { stop(); }

Result<ToolJob> ToolThreads::run(Job job) {
    std::stop_source source;
    {
        std::scoped_lock const lock(mutex_);
        if (ending_) return fail(Code::draining, "the tool threads take no more jobs");
        if (queue_.size() >= queue_max)
            return fail(Code::queue_full, "10000 tool calls wait for a thread");
        queue_.push_back({std::move(job), source});
    }
    wake_.notify_one();
    return ToolJob(std::move(source));
}

void ToolThreads::drain() {
    {
        std::scoped_lock const lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

void ToolThreads::stop() {
    std::vector<std::stop_source> told;
    {
        std::scoped_lock const lock(mutex_);
        ending_ = true;
        told = running_;
        for (auto const& entry : queue_) told.push_back(entry.source);
    }
    // Outside the lock: stop callbacks are the embedder's code.
    for (auto& source : told) source.request_stop();
    drain();
}

std::size_t ToolThreads::queued() const {
    std::scoped_lock const lock(mutex_);
    return queue_.size();
}

void ToolThreads::serve(std::size_t slot) {
    for (;;) {
        Entry entry;
        {
            std::unique_lock lock(mutex_);
            running_[slot] = std::stop_source(std::nostopstate);
            wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
            if (queue_.empty()) return;
            entry = std::move(queue_.front());
            queue_.pop_front();
            running_[slot] = entry.source;
        }
        entry.job(entry.source.get_token());
    }
}

}  // namespace dormouse::io
