#pragma once
// A pool for code that may block: tools, gates, validators, callbacks. Code of embedding programs
// runs only in such pools. Threads are started as needed and block signals.

#include "port/world.h"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace dormouse::io {

// Cancels one job. Destroying it cancels nothing. Any thread.
class ToolJob {
public:
    explicit ToolJob(std::stop_source source) : source_(std::move(source)) {}
    // Requests the stop of the job's token. A job that has not begun still runs, so that its
    // outcome is reported: what must not begin after a stop looks at the token first.
    void cancel() { source_.request_stop(); }

private:
    std::stop_source source_;
};

class ToolThreads {
public:
    using Job = port::Fn<void(std::stop_token)>;
    static constexpr std::size_t queue_max = 10'000;

    struct Options {
        std::size_t threads = 4;      // that run jobs at once
        std::size_t threads_max = 0;  // including those that wait (Waiting); at least `threads`
        std::size_t queue_max = ToolThreads::queue_max;
        std::string name = "tool";  // shown by ps and debuggers
    };
    // Throws std::system_error if not even one thread can be started.
    explicit ToolThreads(Options options);
    explicit ToolThreads(std::size_t threads = 4) : ToolThreads(Options{.threads = threads}) {}
    ~ToolThreads();  // stop()
    ToolThreads(ToolThreads const&) = delete;
    ToolThreads& operator=(ToolThreads const&) = delete;

    // Any thread. Errors: queue_full; draining after drain() or stop(). Jobs start in the order of
    // the calls. A job reports its own outcome (Loop::post) and must not throw.
    [[nodiscard]] Result<ToolJob> run(Job job);

    // Requests every job, running or queued, to stop. New jobs are still accepted.
    void request_stop();
    // Accepts no more jobs, finishes the queued ones and joins. REQUIRES: not called from a job.
    // May be called twice.
    void drain();
    // Like drain(), but first requests every job, running or queued, to stop.
    void stop();
    // The same, for at most `limit`. False: some jobs still run, and drain() waits for them.
    [[nodiscard]] bool stop_within(Duration limit);

    [[nodiscard]] std::size_t queued() const;
    [[nodiscard]] bool is_own_thread() const;

    // Marks a thread of the pool as waiting for something that may need other jobs; another thread
    // works in its place meanwhile. Does nothing on other threads.
    class Waiting {
    public:
        explicit Waiting(ToolThreads& pool);
        ~Waiting();
        Waiting(Waiting const&) = delete;
        Waiting& operator=(Waiting const&) = delete;

    private:
        ToolThreads* pool_;  // nullptr: not a thread of a pool
    };

private:
    struct Entry {
        Job job;
        std::stop_source source;
    };
    void serve(std::size_t slot);
    void add_thread();
    void grow();
    void refuse_more();
    [[nodiscard]] bool may_begin() const { return working_ - waiting_ < options_.threads; }
    [[nodiscard]] bool owns_this_thread() const;

    Options options_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable gone_;
    // Protected by mutex_.
    std::deque<Entry> queue_;
    std::vector<std::stop_source> running_;  // one for each thread; without a state while it is
                                             // idle
    std::size_t working_ = 0;                // threads that run a job
    std::size_t waiting_ = 0;                // those of them that wait
    std::size_t ended_ = 0;                  // threads that have ended
    bool ending_ = false;
    std::vector<std::thread> threads_;  // grows until `ending_`, then joined without the lock
};

}  // namespace dormouse::io
