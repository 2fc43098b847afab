#pragma once
// For tests of the program: moves its clock from outside, so that nothing has to wait for a
// deadline. Only what starts the process can turn it on, with an inherited socket.

#include "io/clock.h"
#include "io/loop.h"

#include <memory>

namespace dormouse::io {

// Reads lines such as `advance 3600000` (milliseconds) and answers each with `ok` once what fell
// due has run, or with `error` and the reason. Lines that wait when the process starts are taken
// before it looks at its store. On the loop.
class ClockControl {
public:
    // The number of a connected Unix socket (a stream) that the process inherited.
    static constexpr char const* variable = "DORMOUSE_TEST_CLOCK_FD";

    // nullptr: the variable is not set. Errors: bad_value, if it names anything but such a socket.
    [[nodiscard]] static Result<std::unique_ptr<ClockControl>> of_environment(AsioLoop& loop,
                                                                              MovableClock& clock);
    // Owns `socket`. Loop and clock outlive it.
    ClockControl(AsioLoop& loop, MovableClock& clock, int socket);
    ~ClockControl();

    // `settle` calls its argument when what the timers started is done.
    void start(port::Fn<void(port::Fn<void()>)> settle);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dormouse::io
