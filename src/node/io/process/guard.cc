#include "io/process/guard.h"

#include "base/text/chars.h"
#include "io/process/spawn.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace dormouse::io {

namespace {

using GuardWords = std::vector<std::string>;

// Environment of the sandbox command. It has rights that the program must not have, so it gets
// nothing from the program.
constexpr char const* plain_path =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Runs the program in the sandbox with its environment, which must not be part of a command line:
// every user can read those.
constexpr char const* with_environment = ". /dev/fd/4 && exec 4<&- && exec \"$@\"";

void add_words(std::string& out, GuardWords const& words) {
    out += std::to_string(words.size()) + '\0';
    for (std::string const& word : words) out += word + '\0';
}

std::optional<std::string> take_word(std::string_view& rest) {
    auto const end = rest.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    std::string out(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return out;
}

std::optional<GuardWords> take_words(std::string_view& rest) {
    auto const count = take_word(rest);
    std::size_t left = 0;
    if (!count) return std::nullopt;
    auto const read = std::from_chars(count->data(), count->data() + count->size(), left);
    if (read.ec != std::errc() || left > rest.size()) return std::nullopt;
    GuardWords out;
    for (; left > 0; --left) {
        auto word = take_word(rest);
        if (!word) return std::nullopt;
        out.push_back(*std::move(word));
    }
    return out;
}

std::string whole_file(int fd) {
    std::string out;
    std::array<char, 65'536> buffer;
    for (;;) {
        auto const got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(out.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return out;
        out.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

// Returns the environment as a shell script.
std::string exports_of(GuardWords const& environment) {
    std::string out;
    for (std::string const& variable : environment) {
        auto const at = std::min(variable.find('='), variable.size());
        if (at == variable.size() || !is_variable_name(variable.substr(0, at))) continue;
        out += "export " + variable.substr(0, at) + "='";
        for (char const c : variable.substr(at + 1)) c == '\'' ? out += "'\\''" : out += c;
        out += "'\n";
    }
    return out;
}

// Enters the folder. With a sandbox it follows no links: another user who may rename the folder
// could put a link in its place, and the sandbox command has more rights.
int go_to(std::string const& folder, bool by_links) {
    if (by_links) return ::chdir(folder.c_str());
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    int const fd =
        static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, folder.c_str(), &how, sizeof how));
    return fd < 0 ? -1 : ::fchdir(fd);
}

// The sandbox command uses the folder's name, which may name another folder by now: a script that
// checks it.
std::string check_of_folder() {
    struct stat here{};
    if (::stat(".", &here) != 0) return "exit 126\n";
    return "[ \"$(stat -c %d:%i .)\" = " + std::to_string(here.st_dev) + ":" +
           std::to_string(here.st_ino) +
           " ] || { echo 'the folder was replaced meanwhile' >&2; exit 126; }\n";
}

int file_with(std::string const& text) {
    int const fd = ::memfd_create("environment", MFD_CLOEXEC);
    if (fd < 0) return -1;
    return write_whole(fd, text) ? fd : -1;
}

// Runs in the child. Returns only if it fails, with errno.
void become(GuardOrder& order) {
    for (int const signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::setsid();
    if (!order.cwd.empty() && go_to(order.cwd, order.sandbox.empty()) != 0) return;
    GuardWords words = order.argv, variables = order.environment;
    if (!order.sandbox.empty()) {
        std::string const check = order.cwd.empty() ? std::string() : check_of_folder();
        int const script = file_with(check + exports_of(order.environment));
        if (script < 0 || ::dup2(script, guard_control) < 0) return;
        words = order.sandbox;
        words.insert(words.end(), {"/bin/sh", "-c", with_environment, "sh"});
        words.insert(words.end(), order.argv.begin(), order.argv.end());
        variables = {plain_path};
    }
    auto const argv = pointers_to(words);
    auto const environment = pointers_to(variables);
    ::execvpe(argv[0], argv.data(), environment.data());
}

class Guard {
public:
    explicit Guard(GuardOrder order) : order_(std::move(order)) {}

    void run() {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        // A signal to the whole service also reaches the guard; it ends with the server, which
        // handles the signal.
        for (int const signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT})
            ::signal(signal, SIG_IGN);
        sigset_t ended;
        ::sigemptyset(&ended);
        ::sigaddset(&ended, SIGCHLD);
        ::sigprocmask(SIG_SETMASK, &ended, nullptr);
        signals_ = Fd(::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK));
        if (int const error = start(); error != 0) {
            report({Report::Kind::not_started, error, 0});
            return;
        }
        let_go_of_pipes();
        while (watch()) {}
    }

private:
    // Returns errno; 0: the program runs.
    int start() {
        int fds[2];
        if (signals_.get() < 0 || ::pipe2(fds, O_CLOEXEC) != 0) return errno;
        Fd reads(fds[0]), writes(fds[1]);
        pid_t const guard = ::getpid();
        program_ = ::fork();
        if (program_ < 0) return errno;
        if (program_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
            if (::getppid() == guard) become(order_);
            int const error = errno;
            (void)!::write(writes.get(), &error, sizeof error);
            ::_exit(127);
        }
        writes = Fd();
        int error = 0;
        ssize_t got = 0;
        do {
            got = ::read(reads.get(), &error, sizeof error);
        } while (got < 0 && errno == EINTR);
        order_ = {};
        return got == sizeof error ? error : 0;
    }

    // Closes the guard's copies, so that the server and the program each see when the other closes
    // a pipe.
    static void let_go_of_pipes() {
        int const null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
        ::close(null);
        ::close(3);
    }

    static void report(Report const& what) {
        (void)::send(guard_control, &what, sizeof what, MSG_NOSIGNAL);
    }

    // False: nothing is left to do.
    bool watch() {
        std::array<pollfd, 2> waits{{{signals_.get(), POLLIN, 0}, {guard_control, POLLIN, 0}}};
        if (::poll(waits.data(), waits.size(), -1) < 0) return errno == EINTR;
        signalfd_siginfo ignored;
        while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {}
        reap_orphans();
        if (waits[1].revents == 0) return true;
        char received = 0;
        auto const got = ::recv(guard_control, &received, 1, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
        if (got > 0 && received == static_cast<char>(Request::leave) && reported_) return false;
        if (got > 0 && received == static_cast<char>(Request::end)) {
            if (!reported_) ::kill(-program_, SIGTERM);
            return true;
        }
        kill_all();
        return false;
    }

    // The program itself stays a zombie until everything has ended, so that its process id is not
    // reused.
    void reap_orphans() {
        for (;;) {
            siginfo_t info{};
            if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
            if (info.si_pid == 0) return;
            if (info.si_pid == program_) return notify_end(info);
            ::waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG);
        }
    }

    void notify_end(siginfo_t const& info) {
        if (!std::exchange(reported_, true))
            report({Report::Kind::ended, info.si_code, info.si_status});
    }

    // Orphans of dying children become children of the guard. They keep their process ids until
    // they are reaped, so the signals reach no other process.
    void kill_all() {
        ::kill(-program_, SIGKILL);
        for (;;) {
            auto const children = list_children();
            for (pid_t const child : children) ::kill(child, SIGKILL);
            siginfo_t info{};
            int const how = WEXITED | WNOWAIT | (children.empty() ? WNOHANG : 0);
            if (::waitid(P_ALL, 0, &info, how) != 0 && errno != EINTR) return;
            if (info.si_pid == 0) continue;
            if (info.si_pid == program_) notify_end(info);
            ::waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG);
        }
    }

    static std::vector<pid_t> list_children() {
        std::vector<pid_t> out;
        std::ifstream file("/proc/thread-self/children");
        for (pid_t child = 0; file >> child;) out.push_back(child);
        return file.is_open() ? out : search_children();
    }

    // Finds children if the kernel does not list them.
    static std::vector<pid_t> search_children() {
        std::vector<pid_t> out;
        std::error_code error;
        for (auto const& entry : std::filesystem::directory_iterator("/proc", error)) {
            pid_t const child = std::atoi(entry.path().filename().c_str());
            if (child <= 0) continue;
            std::ifstream file(entry.path() / "stat");
            std::string line;
            std::getline(file, line);
            auto const at = line.rfind(')');  // "PID (NAME) STATE PARENT"; NAME may contain ')'
            if (at == std::string::npos || at + 4 > line.size()) continue;
            if (std::atoi(line.c_str() + at + 4) == ::getpid()) out.push_back(child);
        }
        return out;
    }

    GuardOrder order_;
    Fd signals_;
    pid_t program_ = -1;
    bool reported_ = false;
};

}  // namespace

std::string GuardOrder::text() const {
    std::string out;
    add_words(out, {cwd});
    for (GuardWords const* words : {&argv, &sandbox, &environment}) add_words(out, *words);
    return out;
}

std::optional<GuardOrder> GuardOrder::parse(std::string const& text) {
    std::string_view rest = text;
    GuardOrder out;
    auto cwd = take_words(rest);
    if (!cwd || cwd->size() != 1) return std::nullopt;
    out.cwd = cwd->front();
    for (GuardWords* words : {&out.argv, &out.sandbox, &out.environment}) {
        auto taken = take_words(rest);
        if (!taken) return std::nullopt;
        *words = *std::move(taken);
    }
    if (out.argv.empty() || !rest.empty()) return std::nullopt;
    return out;
}

std::optional<int> guard_main(int argc, char const* const* argv) {
    if (argc < 2 || std::string_view(argv[1]) != guard_word) return std::nullopt;
    auto order = GuardOrder::parse(whole_file(guard_order));
    if (!order) return 2;
    ::close(guard_order);
    ::fcntl(guard_control, F_SETFD, FD_CLOEXEC);
    ::prctl(PR_SET_NAME, "dormouse-guard", 0, 0, 0);
    Guard(*std::move(order)).run();
    return 0;
}

}  // namespace dormouse::io
