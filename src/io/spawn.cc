#include "io/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

namespace dormouse::io {

namespace {

constexpr int descriptors = 4;  // that the program gets

struct Pipe {
    Fd ours, theirs;
};

// Out of the way of the program's own numbers, which it is given later one after the other.
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

// What the library wants: pointers into `texts` that end with a null one.
std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

class Actions {
public:
    Actions() { ::posix_spawn_file_actions_init(&actions_); }
    ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
    Actions(Actions const&) = delete;
    Actions& operator=(Actions const&) = delete;

    int prepare(Pipe const (&pipes)[descriptors], std::string const& cwd) {
        int error = 0;
        for (int fd = 0; fd < descriptors && error == 0; ++fd)
            error = ::posix_spawn_file_actions_adddup2(&actions_, pipes[fd].theirs.get(), fd);
        if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions_, descriptors);
        if (error == 0 && !cwd.empty())
            error = ::posix_spawn_file_actions_addchdir_np(&actions_, cwd.c_str());
        return error;
    }
    [[nodiscard]] posix_spawn_file_actions_t const* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

// Its own process group, no signal blocked or ignored.
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
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
    Attributes(Attributes const&) = delete;
    Attributes& operator=(Attributes const&) = delete;
    [[nodiscard]] posix_spawnattr_t const* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_;
};

void end_at_once(pid_t pid) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

}  // namespace

Fd::~Fd() {
    if (fd_ >= 0) ::close(fd_);
}

Spawned spawn(port::ProcessSpec const& spec) {
    Spawned out;
    Pipe pipes[descriptors];
    for (int fd = 0; fd < descriptors; ++fd) {
        if (open_pipe(pipes[fd], fd == 0)) continue;
        out.error_number = errno;
        return out;
    }
    Actions actions;
    Attributes const attributes;
    auto arguments = spec.argv;
    auto variables = spec.environment;
    auto const argv = pointers(arguments);
    auto const environment = pointers(variables);
    out.error_number = actions.prepare(pipes, spec.cwd);
    if (out.error_number == 0) {
        out.error_number = ::posix_spawnp(&out.pid, argv[0], actions.get(), attributes.get(),
                                          argv.data(), environment.data());
    }
    if (out.error_number != 0) return out;
    out.exit = Fd(static_cast<int>(::syscall(SYS_pidfd_open, out.pid, 0)));
    if (out.exit.get() < 0) {
        out.error_number = errno;
        end_at_once(out.pid);
        return out;
    }
    out.input = std::move(pipes[0].ours);
    out.output = std::move(pipes[1].ours);
    out.error = std::move(pipes[2].ours);
    out.side = std::move(pipes[3].ours);
    return out;
}

}  // namespace dormouse::io
