#pragma once
// Starts the guard of one program (io/process/guard.h) with pipes. Only system calls;
// io/process/process.cc waits for the results.

#include "io/fd.h"
#include "port/process.h"

#include <sys/types.h>
#include <string>
#include <vector>

namespace dormouse::io {

struct Spawned {
    int error_number = 0;  // not 0: nothing runs
    pid_t pid = 0;         // of the guard
    Fd exit = Fd();        // pidfd of the guard: readable once everything has ended
    Fd control = Fd();     // socket to the guard; non-blocking
    Fd input = Fd(), output = Fd(), error = Fd(), side = Fd();  // our ends; non-blocking
};

// Pointers into `texts`, with a null pointer at the end, as system calls expect.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);
[[nodiscard]] Spawned spawn(port::ProcessSpec const& spec);

}  // namespace dormouse::io
