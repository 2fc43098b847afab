#include "cli/client/child.h"

#include "cli/client/saved/settings.h"
#include "io/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr Duration stop_limit{15'000};
constexpr std::size_t log_lines_shown = 5;

double ms_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

std::string log_end(std::string const& data) {
    std::ifstream file(data + "/server.log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
        if (lines.size() > log_lines_shown) lines.erase(lines.begin());
    }
    std::string out;
    for (auto const& line : lines) out += "\n    " + line;
    return out;
}

// Runs in the child after fork and never returns. Calls only async-signal-safe functions.
[[noreturn]] void become_server(ChildServer::Options const& options, pid_t parent, int log_fd,
                                int ready_fd, std::vector<char*>& arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent ended before prctl took effect
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    int const nothing = ::open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(log_fd, STDOUT_FILENO);
    dup2(log_fd, STDERR_FILENO);
    fcntl(ready_fd, F_SETFD, 0);  // the server inherits this descriptor
    execv(options.program.c_str(), arguments.data());
    _exit(127);
}

}  // namespace

Outcome<TemporaryFolder> TemporaryFolder::make(std::string const& parent) {
    auto path = parent + "/dormouse-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) return TemporaryFolder(std::move(path));
    return failure(status::failed,
                   "cannot make a folder in " + parent + ": " + std::strerror(errno),
                   "Name another place: --data DIR.");
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), keep_(other.keep_) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(keep_, other.keep_);
    return *this;
}

TemporaryFolder::~TemporaryFolder() {
    if (path_.empty() || keep_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string ready_url(std::string_view line) {
    constexpr std::string_view word = "ready ";
    if (!line.starts_with(word) || !line.ends_with('\n')) return {};
    line.remove_prefix(word.size());
    return std::string(line.substr(0, line.find_first_of(" \r\n")));
}

Outcome<ChildServer> ChildServer::start(Options const& options) {
    auto const started = std::chrono::steady_clock::now();
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return failure(status::failed, "cannot make a pipe");
    io::Fd const read_end(ends[0]);
    io::Fd write_end(ends[1]);
    auto const log_path = options.data + "/server.log";
    io::Fd const log(::open(log_path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
    if (!log.open())
        return failure(status::failed, "cannot write " + log_path + ": " + std::strerror(errno));
    std::vector<std::string> words{"dormouse", "serve"};
    words.insert(words.end(), options.options.begin(), options.options.end());
    words.insert(words.end(),
                 {"--data", options.data, "--ready-fd", std::to_string(write_end.get())});
    words.insert(words.end(), options.more.begin(), options.more.end());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t const parent = getpid();
    ChildServer server;
    server.data_ = options.data;
    server.pid_ = fork();
    if (server.pid_ < 0)
        return failure(status::failed, std::string("cannot fork: ") + std::strerror(errno));
    if (server.pid_ == 0) become_server(options, parent, log.get(), write_end.get(), arguments);
    write_end.close();  // so that the pipe reaches its end when the child ends
    if (auto const up = server.await_ready(read_end.get(), options.ready_limit); !up) {
        return std::unexpected(up.error());
    }
    server.start_ms_ = ms_since(started);
    return server;
}

Outcome<void> ChildServer::await_ready(int fd, Duration limit) {
    auto const deadline = std::chrono::steady_clock::now() + limit;
    std::string line;
    std::array<char, 512> chunk{};
    while (!line.ends_with('\n')) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd waiting{fd, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
            return failure(status::failed, "the server was not ready in " +
                                               std::to_string(limit.count() / 1000) +
                                               " s; end of its log:" + log_end(data_));
        }
        auto const got = ::read(fd, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return failure(status::failed,
                           "the server exited during startup; end of its log:" + log_end(data_));
        line.append(chunk.data(), static_cast<std::size_t>(got));
    }
    url_ = ready_url(line);
    if (url_.empty())
        return failure(status::failed, "unexpected first line from the server: " + line);
    return {};
}

ChildServer::ChildServer(ChildServer&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      url_(std::move(other.url_)),
      data_(std::move(other.data_)),
      start_ms_(other.start_ms_) {}

ChildServer& ChildServer::operator=(ChildServer&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(url_, other.url_);
    std::swap(data_, other.data_);
    std::swap(start_ms_, other.start_ms_);
    return *this;
}

ChildServer::~ChildServer() { kill(); }

std::string ChildServer::token() const {
    Global global;
    global.data = data_;
    return cli::token(global, environment());  // the server reads $DORMOUSE_TOKEN too
}

Outcome<Client> ChildServer::client(Client::Options options) const {
    auto address = parse_url(url_);
    if (!address) return std::unexpected(address.error());
    options.address = *std::move(address);
    options.token = token();
    return Client(std::move(options));
}

bool ChildServer::ended() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
}

void ChildServer::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    pid_ = -1;
}

Outcome<void> ChildServer::stop() {
    if (pid_ <= 0) return {};
    ::kill(pid_, SIGTERM);
    auto const deadline = std::chrono::steady_clock::now() + stop_limit;
    int how = 0;
    while (waitpid(pid_, &how, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            kill();
            return failure(
                status::failed,
                "the server did not stop within 15 s of SIGTERM; end of its log:" + log_end(data_));
        }
        ::poll(nullptr, 0, 2);
    }
    pid_ = -1;
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return {};
    return failure(
        status::failed,
        "the server exited with an error after SIGTERM; end of its log:" + log_end(data_));
}

}  // namespace dormouse::cli
