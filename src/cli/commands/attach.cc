// attach: runs the own screen of a session's external agent as a child in this terminal. While it
// is open, this process renews the lease so that the agent keeps running.

#include "cli/commands/commands.h"
#include "cli/commands/pick.h"

#include "cli/client/resolve.h"
#include "io/fd.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ostream>

namespace dormouse::cli {

namespace {

constexpr char const* password_name = "OPENCODE_SERVER_PASSWORD";
constexpr Duration start_limit{120'000};  // for an agent that must be started first
constexpr std::int64_t lease_min_ms = 3'000;
constexpr std::int64_t lease_max_ms = 600'000;

struct Terminal {
    std::string url, password;
    std::vector<std::string> words;
    Duration renew{};  // a third of the lease
};

// Runs only known programs: the server names the command.
bool is_known(std::vector<std::string> const& words) {
    if (words.size() < 3 || words[1] != "attach") return false;
    return words[0] == "opencode" || words[0].ends_with("/opencode");
}

Outcome<Terminal> ask(Client& client, std::string const& session) {
    auto const reply = client.post("/api/sessions/" + session + "/attach", Json::trusted("{}"));
    if (!reply) return std::unexpected(reply.error());
    json::View const body(reply->body);
    Terminal terminal{
        body["url"].string_or(""), body["environment"][password_name].string_or(""), {}, {}};
    body["command"].elements(
        [&](json::View word) { terminal.words.push_back(word.string_or("")); });
    if (!is_known(terminal.words))
        return failure(status::failed, "the server named a screen unknown here");
    auto const lease = std::clamp(body["leaseMs"].integer_or(0), lease_min_ms, lease_max_ms);
    terminal.renew = Duration(lease / 3);
    return terminal;
}

// Replaces the child by the screen; never returns. The signal at the parent's end lets it restore
// the terminal.
[[noreturn]] void become_screen(std::vector<char*> const& argv, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    execvp(argv.front(), argv.data());
    _exit(127);
}

class ScreenProcess {
public:
    [[nodiscard]] static Outcome<ScreenProcess> open(Terminal& terminal) {
        std::vector<char*> argv;
        for (std::string& word : terminal.words) argv.push_back(word.data());
        argv.push_back(nullptr);
        // The password goes into the environment: every user can read the arguments of a process.
        ::setenv(password_name, terminal.password.c_str(), 1);
        ::unsetenv("DORMOUSE_TOKEN");  // the screen does not need it
        pid_t const parent = getpid();
        pid_t const pid = fork();
        if (pid == 0) become_screen(argv, parent);
        ::unsetenv(password_name);
        if (pid < 0)
            return failure(status::failed, std::string("cannot fork: ") + std::strerror(errno));
        return ScreenProcess(pid);
    }

    // Waits for at most `time`; returns true when the screen has ended.
    [[nodiscard]] bool wait(Duration time) {
        pollfd waiting{fd_.get(), POLLIN, 0};
        (void)::poll(&waiting, 1, static_cast<int>(time.count()));
        return waitpid(pid_, &status_, WNOHANG) == pid_;
    }
    void close() {
        ::kill(pid_, SIGTERM);
        if (wait(Duration(5'000))) return;
        ::kill(pid_, SIGKILL);
        waitpid(pid_, &status_, 0);
    }
    [[nodiscard]] Outcome<int> end(std::string const& program) const {
        if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return status::done;
        if (WIFEXITED(status_) && WEXITSTATUS(status_) == 127)
            return failure(status::failed, "cannot start " + program);
        return failure(status::failed,
                       WIFEXITED(status_)
                           ? program + " ended with status " + std::to_string(WEXITSTATUS(status_))
                           : program + " was ended by signal " + std::to_string(WTERMSIG(status_)));
    }

private:
    explicit ScreenProcess(pid_t pid)
        : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

    pid_t pid_;
    io::Fd fd_;
    int status_ = 0;
};

// Renews the lease. Returns nullopt to continue, also when the server is briefly unavailable.
std::optional<Failure> renew(Client& client, std::string const& session, Terminal const& open) {
    auto const terminal = ask(client, session);
    if (terminal && terminal->url == open.url) return std::nullopt;
    if (terminal)
        return Failure{status::failed, "the agent was restarted and has a new screen",
                       "Run the command again."};
    bool const away = terminal.error().exit == status::unreachable;
    return away ? std::nullopt : std::optional(terminal.error());
}

}  // namespace

Outcome<int> execute(Context const& context, AttachArgs const& args) {
    auto client = context.connect(-1, start_limit);
    if (!client) return std::unexpected(client.error());
    auto const id = args.session.empty()
                        ? pick_session(context, *client)
                        : resolve_session(*client, context.global.project, args.session);
    if (!id) return std::unexpected(id.error());
    auto terminal = ask(*client, *id);
    if (!terminal) return std::unexpected(terminal.error());
    auto screen = ScreenProcess::open(*terminal);
    if (!screen) return std::unexpected(screen.error());
    // Keys typed there are for the screen.
    for (int const signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
    while (!screen->wait(terminal->renew)) {
        auto const lost = renew(*client, *id, *terminal);
        if (!lost) continue;
        screen->close();
        return std::unexpected(*lost);
    }
    return screen->end(terminal->words.front());
}

}  // namespace dormouse::cli
