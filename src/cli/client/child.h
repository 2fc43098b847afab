#pragma once
// Runs a server as a child process: `demo` kills it and `bench` measures it. One thread.

#include <dormouse/time.h>

#include "cli/client/client.h"

#include <sys/types.h>
#include <string>
#include <vector>

namespace dormouse::cli {

// A temporary folder; the destructor removes it with its content.
class TemporaryFolder {
public:
    // Creates the folder inside `parent`.
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
        std::string program =
            "/proc/self/exe";  // must accept: serve OPTIONS --data DIR --ready-fd N
        std::string data;      // data directory; output goes to DIR/server.log
        std::vector<std::string> options = {"--no-config", "--listen", "127.0.0.1:0"};
        std::vector<std::string> more = {};  // further arguments of `serve`
        Duration ready_limit{30'000};
    };

    // Starts the server and returns when it accepts requests. The kernel kills it when this process
    // ends.
    [[nodiscard]] static Outcome<ChildServer> start(Options const& options);
    ChildServer(ChildServer&& other) noexcept;
    ChildServer& operator=(ChildServer&& other) noexcept;
    ~ChildServer();  // sends SIGKILL if it still runs

    [[nodiscard]] std::string const& url() const { return url_; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    // Time from fork to the ready line.
    [[nodiscard]] double start_ms() const { return start_ms_; }
    // Returns a client with these options, the server's address and the token that the server
    // wrote, if it wrote one.
    [[nodiscard]] Outcome<Client> client(Client::Options options = {}) const;
    [[nodiscard]] std::string token() const;

    // Returns true if the child has ended by itself.
    [[nodiscard]] bool ended();
    void kill();                         // SIGKILL; returns when the process has ended
    [[nodiscard]] Outcome<void> stop();  // SIGTERM; returns when it has ended with status 0

private:
    ChildServer() = default;
    [[nodiscard]] Outcome<void> await_ready(int fd, Duration limit);

    pid_t pid_ = -1;
    std::string url_;
    std::string data_;
    double start_ms_ = 0;
};

// Returns the "http://…" in "ready http://…\n", or empty. Pure.
[[nodiscard]] std::string ready_url(std::string_view line);

}  // namespace dormouse::cli
