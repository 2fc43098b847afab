#pragma once
// Blocks signals on the current thread while it exists. Threads started meanwhile keep them
// blocked, so handlers run on the program's own threads. Signals for faults of the thread itself,
// and SIGPROF for profilers, stay unblocked.

#include <csignal>
#include <initializer_list>

namespace dormouse::io {

class NoSignals {
public:
    NoSignals() {
        sigset_t blocked;
        ::sigfillset(&blocked);
        for (int const open : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF})
            ::sigdelset(&blocked, open);
        ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    }
    ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(NoSignals const&) = delete;
    NoSignals& operator=(NoSignals const&) = delete;

private:
    sigset_t before_{};
};

}  // namespace dormouse::io
