#pragma once
// Starts the guard of one program (io/guard.h) with pipes. Plain system calls; io/process.cc waits
// for what comes of it.

#include "port/process.h"

#include <sys/types.h>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::io {

// A file descriptor that is closed with its owner. -1: none.
class Fd {
public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    ~Fd();
    Fd(Fd&& other) noexcept : fd_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

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
