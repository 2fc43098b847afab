#pragma once
// Ctrl-C, and on request SIGTERM, as a file descriptor that can be waited for.

#include <dormouse/time.h>

#include "io/fd.h"

namespace dormouse::cli {

// While an object exists, Ctrl-C makes fd() readable instead of ending the process; with
// `also_term` SIGTERM does, too.
class Interrupts {
public:
    explicit Interrupts(bool also_term = false);
    ~Interrupts();
    Interrupts(Interrupts const&) = delete;
    Interrupts& operator=(Interrupts const&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }
    // Waits for `duration`. Returns true if Ctrl-C was pressed or the reader of `output_fd` has
    // closed it.
    [[nodiscard]] bool sleep(Duration duration, int output_fd = -1) const;

private:
    bool also_term_;
    io::Fd fd_;
};

}  // namespace dormouse::cli
