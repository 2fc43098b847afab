#pragma once
// Runs the program's completions and observers: on threads of their own or on the program's
// executor, never on the loop. Exceptions are caught and logged. Any thread.

#include <dormouse/runtime.h>

#include "io/threads/tool_threads.h"

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace dormouse::runtime {

// Settings::log, made safe: one line at a time, exceptions are ignored.
class Notes {
public:
    explicit Notes(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

    void say(std::string const& line) {
        if (!log_) return;
        std::lock_guard const lock(mutex_);
        try {
            log_(line);
        } catch (...) {  // NOLINT(bugprone-empty-catch): there is no other place to report to
        }
    }
    // Runs `work`. Returns false if it threw; the log then names `who`.
    template <class F> bool guard(std::string_view who, F&& work) {
        try {
            std::forward<F>(work)();
            return true;
        } catch (std::exception const& error) {
            say(std::string(who) + " threw: " + error.what());
        } catch (...) {
            say(std::string(who) + " threw a value that is not an exception");
        }
        return false;
    }

private:
    std::function<void(std::string_view)> const log_;
    std::recursive_mutex mutex_;  // recursive: a log may call the runtime, which may log
};

class Callbacks {
public:
    // `loop` lives until end().
    Callbacks(Settings const& settings, port::Loop& loop);

    // Runs `call` once; it must not throw. After end(): at once, unless there is an executor.
    void run(port::Fn<void()> call);
    // Posts `work` to the loop; drops it after forget_loop().
    void post(port::Fn<void()> work);
    void forget_loop();
    // Runs what is queued and joins the threads. REQUIRES: not called from a callback.
    void end() { threads_.drain(); }

    [[nodiscard]] Notes& notes() { return notes_; }
    [[nodiscard]] io::ToolThreads& threads() { return threads_; }

private:
    Executor const executor_;
    Notes notes_;
    std::mutex mutex_;
    port::Loop* loop_;  // protected by mutex_
    io::ToolThreads threads_;
};

// Ends the callbacks when destroyed; other owners may drop them on any thread.
class CallbacksOwner {
public:
    explicit CallbacksOwner(std::shared_ptr<Callbacks> callbacks)
        : callbacks_(std::move(callbacks)) {}
    ~CallbacksOwner() { callbacks_->end(); }
    CallbacksOwner(CallbacksOwner const&) = delete;
    CallbacksOwner& operator=(CallbacksOwner const&) = delete;

    [[nodiscard]] Callbacks* operator->() const { return callbacks_.get(); }
    [[nodiscard]] std::shared_ptr<Callbacks> const& share() const { return callbacks_; }

private:
    std::shared_ptr<Callbacks> callbacks_;
};

}  // namespace dormouse::runtime
