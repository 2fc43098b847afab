#pragma once
// Ctrl-C as a file descriptor that can be waited for.

#include <dormouse/time.h>

#include "io/fd.h"

namespace dormouse::cli {

// While an object exists, Ctrl-C makes fd() readable instead of ending the process.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(Interrupts const&) = delete;
    Interrupts& operator=(Interrupts const&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }
    // Waits for `duration`. Returns true if Ctrl-C was pressed or the reader of `output_fd` has
    // closed it.
    [[nodiscard]] bool sleep(Duration duration, int output_fd = -1) const;

private:
    io::Fd fd_;
};

}  // namespace dormouse::cli
