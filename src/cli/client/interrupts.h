#pragma once
// Ctrl-C as something to wait for.

#include <dormouse/time.h>

#include "io/fd.h"

namespace dormouse::cli {

// While it lives Ctrl-C makes fd() readable and does not end the process.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(Interrupts const&) = delete;
    Interrupts& operator=(Interrupts const&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }
    // Waits; true if Ctrl-C came meanwhile, or nobody reads `output_fd` any more.
    [[nodiscard]] bool sleep(Duration duration, int output_fd = -1) const;

private:
    io::Fd fd_;
};

}  // namespace dormouse::cli
