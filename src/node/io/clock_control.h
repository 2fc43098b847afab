#pragma once
// For tests of the program: moves its clock from outside, so that no test waits for a deadline.
// Only the parent process can enable it, with an inherited socket.

#include "io/clock.h"
#include "io/loop.h"

#include <memory>

namespace dormouse::io {

// Reads lines such as `advance 3600000` (milliseconds). Answers each with `ok` once the work that
// became due has run, or with `error` and the reason. Lines sent before the process starts are
// applied before it opens its store. On the loop.
class ClockControl {
public:
    // The descriptor of an inherited, connected Unix stream socket.
    static constexpr char const* variable = "DORMOUSE_TEST_CLOCK_FD";

    // nullptr: the variable is not set. Errors: bad_value, if it names anything other than such a
    // socket.
    [[nodiscard]] static Result<std::unique_ptr<ClockControl>> of_environment(AsioLoop& loop,
                                                                              MovableClock& clock);
    // Owns `socket`. Loop and clock outlive this.
    ClockControl(AsioLoop& loop, MovableClock& clock, int socket);
    ~ClockControl();

    // `settle` calls its argument when the work started by timers is done.
    void start(port::Fn<void(port::Fn<void()>)> settle);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dormouse::io
