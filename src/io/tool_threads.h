#pragma once
// A fixed pool for code that may block: tools, gates, validators. The embedder's code runs here and
// nowhere else.

#include "port/world.h"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace dormouse::io {

// The right to cancel one job. Dropping it cancels nothing. Any thread.
class ToolJob {
public:
    explicit ToolJob(std::stop_source source) : source_(std::move(source)) {}
    // The job sees it in its token; one that has not begun is still run, so that its owner always
    // hears.
    void cancel() { source_.request_stop(); }

private:
    std::stop_source source_;
};

class ToolThreads {
public:
    using Job = port::Fn<void(std::stop_token)>;
    static constexpr std::size_t queue_max = 10'000;

    explicit ToolThreads(std::size_t threads = 4);
    ~ToolThreads();  // stop()
    ToolThreads(ToolThreads const&) = delete;
    ToolThreads& operator=(ToolThreads const&) = delete;

    // From any thread. Errors: queue_full; draining after drain() or stop(). Jobs start in the
    // order of the calls. A job brings its outcome home itself (Loop::post) and throws nothing.
    [[nodiscard]] Result<ToolJob> run(Job job);

    // Takes no more jobs, finishes what it has, joins. REQUIRES: not called from a job. May be
    // called twice.
    void drain();
    // As drain(), but every job, running or queued, is told to stop first.
    void stop();

    [[nodiscard]] std::size_t queued() const;

private:
    struct Entry {
        Job job;
        std::stop_source source;
    };
    void serve(std::size_t slot);

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    // Protected by mutex_.
    std::deque<Entry> queue_;
    std::vector<std::stop_source> running_;  // one a thread; without a state when it is idle
    bool ending_ = false;

    std::vector<std::thread> threads_;  // last: everything they use stands before they start
};

}  // namespace dormouse::io
