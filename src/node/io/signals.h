#pragma once
// Signals that ask the process to end, brought to the loop.

#include "io/loop.h"

#include <memory>

namespace dormouse::io {

// From construction to destruction SIGTERM and SIGINT do nothing but call `on_signal` with their
// number, on the loop, each time. One object a process.
class Signals {
public:
    // `on_hangup` is called for SIGHUP, which does nothing else either.
    Signals(AsioLoop& loop, port::Fn<void(int)> on_signal, port::Fn<void()> on_hangup = {});
    ~Signals();
    Signals(Signals const&) = delete;
    Signals& operator=(Signals const&) = delete;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

// A write to a closed socket or pipe is an error value, never the end of the process.
void ignore_sigpipe();

}  // namespace dormouse::io
