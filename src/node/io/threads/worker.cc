#include "io/threads/worker.h"

#include "base/check.h"
#include "io/process/no_signals.h"

#include <pthread.h>

#include <utility>

namespace dormouse::io {

Worker::Worker(std::string name) {
    NoSignals const none;
    thread_ = std::thread([this] { serve(); });
    name.resize(std::min<std::size_t>(name.size(), 15));
    ::pthread_setname_np(thread_.native_handle(), name.c_str());
}

Worker::~Worker() { stop(); }

bool Worker::run(port::Fn<void()>& job) {
    bool was_idle = false;
    {
        std::scoped_lock const lock(mutex_);
        if (stopping_) return false;
        was_idle = queue_.empty();
        queue_.push_back(std::move(job));
    }
    // A busy thread checks the queue again before it sleeps.
    if (was_idle) wake_.notify_one();
    return true;
}

void Worker::stop() {
    CHECK(std::this_thread::get_id() != thread_.get_id());
    {
        std::scoped_lock const lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Worker::serve() {
    std::vector<port::Fn<void()>> batch;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
            if (queue_.empty()) return;
            batch.swap(queue_);
        }
        for (auto& job : batch) job();
        batch.clear();
    }
}

}  // namespace dormouse::io
