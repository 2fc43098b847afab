#pragma once
// A server of our own, as a child process: what `demo` kills and `bench` measures. One thread.

#include <dormouse/time.h>

#include "cli/client/client.h"

#include <sys/types.h>
#include <string>
#include <vector>

namespace dormouse::cli {

// A new folder that goes, with all in it, when this does.
class TemporaryFolder {
public:
    // Made inside `parent`.
    [[nodiscard]] static Outcome<TemporaryFolder> make(std::string const& parent);
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
    ~TemporaryFolder();

    [[nodiscard]] std::string const& path() const { return path_; }
    void keep() { keep_ = true; }

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

    std::string path_;
    bool keep_ = false;
};

class ChildServer {
public:
    struct Options {
        std::string program = "/proc/self/exe";  // takes: serve --listen A --data DIR --ready-fd N
        std::string data;                        // its output goes to DIR/server.log
        Duration ready_limit{30'000};
    };

    // Returns when the server says that it accepts requests. It cannot outlive this process.
    [[nodiscard]] static Outcome<ChildServer> start(Options const& options);
    ChildServer(ChildServer&& other) noexcept;
    ChildServer& operator=(ChildServer&& other) noexcept;
    ~ChildServer();  // SIGKILL, if it still runs

    [[nodiscard]] std::string const& url() const { return url_; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    // From fork to the ready line.
    [[nodiscard]] double start_ms() const { return start_ms_; }
    // A client with the token that the server wrote, if it wrote one.
    [[nodiscard]] Outcome<Client> client() const;
    [[nodiscard]] std::string token() const;

    void kill();                         // SIGKILL; returns when it is gone
    [[nodiscard]] Outcome<void> stop();  // SIGTERM; returns when it has ended well

private:
    ChildServer() = default;
    [[nodiscard]] Outcome<void> await_ready(int fd, Duration limit);

    pid_t pid_ = -1;
    std::string url_;
    std::string data_;
    double start_ms_ = 0;
};

// "http://…" in "ready http://…\n", or empty. Pure.
[[nodiscard]] std::string ready_url(std::string_view line);

}  // namespace dormouse::cli
