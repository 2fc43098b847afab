#pragma once
// Knows until when this process may start effects. The loop sets it after heartbeats; the thread
// that takes an effect out of a queue checks it again.

#include <dormouse/time.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace dormouse::runtime {

class StartPermission {
public:
    // `clock` is asked on any thread.
    explicit StartPermission(std::function<Duration()> clock) : clock_(std::move(clock)) {}

    // On the loop: extends the permission until this time of the clock.
    void extend(Duration until) { *until_ = until.count(); }
    // On the loop: the process must take part again under another epoch. Effects that were started
    // before, but wait in a queue, never begin.
    void end() {
        *until_ = Duration::min().count();
        until_ = std::make_shared<Until>(Duration::min().count());
    }
    // On the loop.
    [[nodiscard]] bool holds() const { return clock_() < Duration(*until_); }
    // On the loop: returns a check for any thread, for effects that are started now.
    [[nodiscard]] std::function<bool()> given() const {
        return [until = until_, clock = clock_] { return clock() < Duration(*until); };
    }

private:
    using Until = std::atomic<Duration::rep>;

    std::function<Duration()> const clock_;
    std::shared_ptr<Until> until_ = std::make_shared<Until>(Duration::min().count());
};

}  // namespace dormouse::runtime
