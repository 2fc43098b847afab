#pragma once
// A pool for code that may block: tools, gates, validators, callbacks. The embedder's code runs in
// such pools and nowhere else. Threads are started as they are needed and take no signals.

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

    struct Options {
        std::size_t threads = 4;      // that work at once
        std::size_t threads_max = 0;  // with those that wait (Waiting); at least `threads`
        std::size_t queue_max = ToolThreads::queue_max;
        std::string name = "tool";  // as ps and debuggers show it
    };
    // Throws std::system_error when not even one thread can be started.
    explicit ToolThreads(Options options);
    explicit ToolThreads(std::size_t threads = 4) : ToolThreads(Options{.threads = threads}) {}
    ~ToolThreads();  // stop()
    ToolThreads(ToolThreads const&) = delete;
    ToolThreads& operator=(ToolThreads const&) = delete;

    // From any thread. Errors: queue_full; draining after drain() or stop(). Jobs start in the
    // order of the calls. A job brings its outcome home itself (Loop::post) and throws nothing.
    [[nodiscard]] Result<ToolJob> run(Job job);

    // Asks every job, running or queued, to stop. More are taken.
    void request_stop();
    // Takes no more jobs, finishes what it has, joins. REQUIRES: not called from a job. May be
    // called twice.
    void drain();
    // As drain(), but every job, running or queued, is told to stop first.
    void stop();
    // The same within a limit. False: some still run, and drain() waits for them.
    [[nodiscard]] bool stop_within(Duration limit);

    [[nodiscard]] std::size_t queued() const;
    [[nodiscard]] bool is_own_thread() const;

    // On a thread of the pool: while it lives, the thread waits for something that other jobs may
    // have to bring about, and another one works in its place. Elsewhere it does nothing.
    class Waiting {
    public:
        explicit Waiting(ToolThreads& pool);
        ~Waiting();
        Waiting(Waiting const&) = delete;
        Waiting& operator=(Waiting const&) = delete;

    private:
        ToolThreads* pool_;  // nullptr: not one of its threads
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
    std::vector<std::stop_source> running_;  // one a thread; without a state when it is idle
    std::size_t working_ = 0;                // threads that run a job
    std::size_t waiting_ = 0;                // those of them that wait
    std::size_t ended_ = 0;                  // threads that have ended
    bool ending_ = false;
    std::vector<std::thread> threads_;  // grows until `ending_`, then is joined without the lock
};

}  // namespace dormouse::io
