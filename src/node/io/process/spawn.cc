#include "io/process/spawn.h"

#include "io/process/guard.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace dormouse::io {

namespace {

struct Pipe {
    Fd ours, theirs;
};

// Moves a descriptor beyond the numbers that the program gets.
int move_up(int fd) {
    int const moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 16);
    ::close(fd);
    return moved;
}

bool open_pipe(Pipe& pipe, bool they_read) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    Fd reads(move_up(fds[0]));
    Fd writes(move_up(fds[1]));
    if (reads.get() < 0 || writes.get() < 0) return false;
    pipe.ours = std::move(they_read ? writes : reads);
    pipe.theirs = std::move(they_read ? reads : writes);
    return ::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

bool open_control(Pipe& control) {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) return false;
    control.ours = Fd(move_up(fds[0]));
    control.theirs = Fd(move_up(fds[1]));
    if (control.ours.get() < 0 || control.theirs.get() < 0) return false;
    return ::fcntl(control.ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

// The order contains the program's environment, so it is not passed on the command line, which
// every user can read.
Fd write_order(port::ProcessSpec const& spec) {
    std::string const text = GuardOrder{spec.argv, spec.sandbox, spec.environment, spec.cwd}.text();
    int const made = ::memfd_create("order", MFD_CLOEXEC);
    Fd out(made < 0 ? made : move_up(made));
    if (out.get() < 0) return out;
    return write_whole(out.get(), text) ? std::move(out) : Fd();
}

// The guard searches its program in our PATH, and finds its libraries where we found ours.
std::vector<std::string> guard_environment() {
    std::vector<std::string> out;
    for (char const* const name : {"PATH", "LD_LIBRARY_PATH"}) {
        if (char const* const value = std::getenv(name))
            out.push_back(std::string(name).append("=").append(value));
    }
    return out;
}

class Actions {
public:
    Actions() { ::posix_spawn_file_actions_init(&actions_); }
    ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
    Actions(Actions const&) = delete;
    Actions& operator=(Actions const&) = delete;

    // Sets the descriptors from 0 on. Returns errno; 0: success.
    template <std::size_t n> int prepare(std::array<int, n> const& descriptors) {
        int error = 0;
        int fd = 0;
        for (int const from : descriptors) {
            if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions_, from, fd++);
        }
        if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions_, fd);
        return error;
    }
    [[nodiscard]] posix_spawn_file_actions_t const* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

// A session of its own: without our terminal, into which it could type (TIOCSTI). No signal blocked
// or ignored.
class Attributes {
public:
    Attributes() {
        ::posix_spawnattr_init(&attributes_);
        sigset_t set;
        ::sigemptyset(&set);
        ::posix_spawnattr_setsigmask(&attributes_, &set);
        for (int const signal :
             {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1, SIGUSR2})
            ::sigaddset(&set, signal);
        ::posix_spawnattr_setsigdefault(&attributes_, &set);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
    Attributes(Attributes const&) = delete;
    Attributes& operator=(Attributes const&) = delete;
    [[nodiscard]] posix_spawnattr_t const* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_;
};

}  // namespace

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

Spawned spawn(port::ProcessSpec const& spec) {
    Spawned out;
    std::array<Pipe, program_descriptors> pipes;
    Pipe control;
    bool opened = open_control(control);
    for (int fd = 0; fd < program_descriptors && opened; ++fd)
        opened = open_pipe(pipes[static_cast<std::size_t>(fd)], fd == 0);
    Fd const order = opened ? write_order(spec) : Fd();
    if (order.get() < 0) {
        out.error_number = errno;
        return out;
    }
    Actions actions;
    Attributes const attributes;
    std::vector<std::string> arguments{"dormouse", guard_word, spec.argv.front()};
    auto variables = guard_environment();
    auto const argv = pointers_to(arguments);
    auto const environment = pointers_to(variables);
    out.error_number = actions.prepare(std::array{pipes[0].theirs.get(), pipes[1].theirs.get(),
                                                  pipes[2].theirs.get(), pipes[3].theirs.get(),
                                                  control.theirs.get(), order.get()});
    if (out.error_number == 0) {
        out.error_number = ::posix_spawn(&out.pid, "/proc/self/exe", actions.get(),
                                         attributes.get(), argv.data(), environment.data());
    }
    if (out.error_number != 0) return out;
    out.exit = Fd(static_cast<int>(::syscall(SYS_pidfd_open, out.pid, 0)));
    if (out.exit.get() < 0) {
        out.error_number = errno;
        control = Pipe();  // closes the socket, which ends the guard
        ::waitpid(out.pid, nullptr, 0);
        return out;
    }
    out.control = std::move(control.ours);
    out.input = std::move(pipes[0].ours);
    out.output = std::move(pipes[1].ours);
    out.error = std::move(pipes[2].ours);
    out.side = std::move(pipes[3].ours);
    return out;
}

}  // namespace dormouse::io
