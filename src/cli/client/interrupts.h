#pragma once
// Ctrl-C, and on request SIGTERM and SIGHUP, as a file descriptor that can be waited for.

#include <dormouse/time.h>

#include "io/fd.h"

#include <cstdint>

namespace dormouse::cli {

// While an object exists, Ctrl-C makes fd() readable instead of ending the process, and so do the
// other signals that the constructor names.
class Interrupts {
public:
    enum class Also : std::uint8_t { none, term, term_and_hangup };
    explicit Interrupts(Also also);
    explicit Interrupts(bool also_term = false);
    ~Interrupts();
    Interrupts(Interrupts const&) = delete;
    Interrupts& operator=(Interrupts const&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }
    // Waits for `duration`. Returns true if Ctrl-C was pressed or the reader of `output_fd` has
    // closed it.
    [[nodiscard]] bool sleep(Duration duration, int output_fd = -1) const;

private:
    Also also_;
    io::Fd fd_;
};

}  // namespace dormouse::cli
