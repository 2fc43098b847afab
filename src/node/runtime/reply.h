#pragma once
// The reply of an operation on the loop to a caller on another thread: a blocked thread, or a
// completion on a callback thread. Answers exactly once; a reply dropped unanswered (the runtime
// ends) answers draining.

#include <dormouse/error.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace dormouse::runtime {

[[nodiscard]] inline Error ended() { return {Code::draining, "The runtime is ending."}; }

// Threads that block; the end of the runtime unblocks them. Any thread.
class Blocked {
public:
    template <class T> struct Wait {
        std::optional<Result<T>> answer;
    };

    template <class T> void answer(Wait<T>& wait, Result<T> result) {
        std::lock_guard const lock(mutex_);
        if (wait.answer) return;
        wait.answer = std::move(result);
        changed_.notify_all();
    }
    template <class T> [[nodiscard]] Result<T> wait(Wait<T>& wait) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return over_ || wait.answer; });
        if (!wait.answer) return std::unexpected(ended());
        return std::move(*wait.answer);
    }
    // Unblocks all waiting threads; later ones do not wait.
    void end() {
        std::lock_guard const lock(mutex_);
        over_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
};

template <class T> class Reply {
public:
    using Take = std::move_only_function<void(Result<T>)>;
    explicit Reply(Take take) : take_(std::move(take)) {}
    Reply(Reply&& other) noexcept : take_(std::exchange(other.take_, {})) {}
    Reply& operator=(Reply&&) = delete;
    ~Reply() {
        if (take_) take_(std::unexpected(ended()));
    }

    void operator()(Result<T> result) { std::exchange(take_, {})(std::move(result)); }

private:
    Take take_;
};

}  // namespace dormouse::runtime
