#pragma once
// Starts the guard of one program (io/guard.h) with pipes. Plain system calls; io/process.cc waits
// for what comes of it.

#include "io/fd.h"
#include "port/process.h"

#include <sys/types.h>
#include <string>
#include <vector>

namespace dormouse::io {

struct Spawned {
    int error_number = 0;  // else nothing runs
    pid_t pid = 0;         // of the guard
    Fd exit = Fd();        // pidfd of the guard: readable once all has ended
    Fd control = Fd();     // to the guard; it does not block
    Fd input = Fd(), output = Fd(), error = Fd(), side = Fd();  // our ends; they do not block
};

// What system calls want: pointers into `texts` that end with a null one.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);
[[nodiscard]] Spawned spawn(port::ProcessSpec const& spec);

}  // namespace dormouse::io
