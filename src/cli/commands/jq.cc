#include "cli/commands/jq.h"

#include "base/text/text.h"
#include "cli/client/saved/settings.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr int not_started = 127;
constexpr std::size_t line_max = std::size_t{1}
                                 << 20U;  // of a terminal; a longer one is cut in two

constexpr int interrupt_grace_ms = 1'000;
constexpr std::size_t filter_bytes_max = 100'000;  // Linux takes words of at most 128 KiB

struct Pipe {
    io::Fd read;
    io::Fd write;
};

std::optional<Pipe> new_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    return Pipe{io::Fd(ends[0]), io::Fd(ends[1])};
}

// Runs in the child after fork and never returns. Calls only async-signal-safe functions.
[[noreturn]] void become_jq(std::vector<char*>& words, pid_t parent, int input, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGINT, SIG_IGN);                 // this process decides what Ctrl-C ends
    if (getppid() != parent) _exit(not_started);  // the parent ended before prctl took effect
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(not_started);
    execvp(words.front(), words.data());
    _exit(not_started);
}

// A filter is never an option: a space before it means nothing to jq.
std::vector<std::string> words_of(std::string const& filter, bool compact) {
    std::vector<std::string> words{"jq", "--raw-output", "--unbuffered"};
    if (compact) words.emplace_back("--compact-output");
    words.push_back(' ' + filter);
    return words;
}

// Returns -1 if fork fails.
pid_t run_jq(std::vector<std::string> words, int input, int output) {
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t const parent = getpid();
    pid_t const child = fork();
    if (child == 0) become_jq(arguments, parent, input, output);
    return child;
}

int status_of(pid_t child) {
    int ended = 0;
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

// The same after an interrupt: a filter that has not ended after the grace is ended.
int status_of_interrupted(pid_t child) {
    io::Fd const ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    pollfd wait{.fd = ended.get(), .events = POLLIN, .revents = 0};
    if (!ended.open() || poll(&wait, 1, interrupt_grace_ms) <= 0) ::kill(child, SIGKILL);
    return status_of(child);
}

// Without input jq compiles the filter and does not run it.
Outcome<void> check(std::string const& filter) {
    io::Fd const nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    pid_t const child = run_jq(words_of(filter, true), nothing.get(), nothing.get());
    int const ended = child < 0 ? not_started : status_of(child);
    if (ended == 0) return {};
    if (ended == not_started)
        return failure(status::usage, "--jq needs the program jq, which cannot be started",
                       "Install it, on Debian and Ubuntu: sudo apt install jq. Or use --json.");
    return failure(status::usage, "--jq: jq does not accept the filter " + shell_word(filter),
                   "Its message is above; https://jqlang.org/manual explains filters.");
}

void write_to(int fd, std::string_view text) {
    while (!text.empty()) {
        auto const written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;  // nobody reads it any more
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

// Strings of sessions come raw out of jq: they must not control the terminal.
void print_escaped(int from, int terminal) {
    std::string text;
    std::array<char, 16 * 1024> chunk{};
    for (;;) {
        auto const got = ::read(from, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
        auto const lines = got > 0 && text.size() < line_max ? text.rfind('\n') + 1 : text.size();
        write_to(terminal, escape_for_terminal(std::string_view(text).substr(0, lines), true));
        text.erase(0, lines);
        if (got <= 0) return;
    }
}

}  // namespace

Outcome<std::unique_ptr<Jq>> Jq::start(std::string const& filter) {
    if (filter.size() > filter_bytes_max)
        return failure(status::usage, "--jq: the filter must be at most 100000 bytes",
                       "Put it into a file: dormouse ... --json | jq -f FILE.");
    if (auto const accepted = check(filter); !accepted) return std::unexpected(accepted.error());
    bool const terminal = isatty(STDOUT_FILENO) != 0;
    auto input = new_pipe();
    auto shown = terminal ? new_pipe() : std::optional(Pipe());
    std::unique_ptr<Jq> out(new Jq());
    out->output_ = io::Fd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!input || !shown || !out->output_.open())
        return failure(status::failed, std::string("cannot make a pipe: ") + std::strerror(errno));
    out->pid_ = run_jq(words_of(filter, !terminal), input->read.get(),
                       terminal ? shown->write.get() : STDOUT_FILENO);
    if (out->pid_ < 0)
        return failure(status::failed, std::string("cannot start jq: ") + std::strerror(errno));
    // jq may end before the command: its status says why.
    std::signal(SIGPIPE, SIG_IGN);
    dup2(input->write.get(), STDOUT_FILENO);
    if (terminal) out->show_on_terminal(std::move(shown->read));
    return out;
}

// Only the command's thread handles signals.
void Jq::show_on_terminal(io::Fd from) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    shown_ = std::thread(
        [from = std::move(from), to = output_.get()] { print_escaped(from.get(), to); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Jq::~Jq() { wait(false); }

void Jq::wait(bool interrupted) {
    if (pid_ < 0) return;
    std::cout.flush();
    (void)std::fflush(stdout);
    dup2(output_.get(), STDOUT_FILENO);  // the end of jq's input
    pid_t const child = std::exchange(pid_, -1);
    status_ = interrupted ? status_of_interrupted(child) : status_of(child);
    if (shown_.joinable()) shown_.join();
    std::cout.clear();
}

int Jq::end(int exit) {
    wait(exit == status::interrupted);
    bool const closed = exit == status::unread;
    return exit == status::done || closed ? status_ : exit;
}

}  // namespace dormouse::cli
