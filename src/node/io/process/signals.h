#pragma once
// Delivers signals that ask the process to end to the loop.

#include "io/loop.h"

#include <memory>

namespace dormouse::io {

// While it exists, SIGTERM and SIGINT only call `on_signal` with their number, on the loop, each
// time. One object in a process.
class Signals {
public:
    // Calls `on_hangup` for SIGHUP, which then does nothing else.
    Signals(AsioLoop& loop, port::Fn<void(int)> on_signal, port::Fn<void()> on_hangup = {});
    ~Signals();
    Signals(Signals const&) = delete;
    Signals& operator=(Signals const&) = delete;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

// A write to a closed socket or pipe returns an error and does not end the process.
void ignore_sigpipe();

}  // namespace dormouse::io
