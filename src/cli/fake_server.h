#pragma once
// For tests: a small HTTP server on a thread of its own that gives answers which were laid down
// before. A target without an answer is 404 not_found. Answers to the same "METHOD target" follow
// one another; the last one stays.

#include "io/fd.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dormouse::cli {

class FakeServer {
public:
    struct Seen {
        std::string line;  // "POST /async-tool/result"
        std::string head;
        std::string body;
    };

    FakeServer();
    ~FakeServer();
    FakeServer(FakeServer const&) = delete;
    FakeServer& operator=(FakeServer const&) = delete;

    // Status and body; a body that begins with "id:", "event:" or ":" is sent as an event stream
    // that then ends.
    void answer(std::string const& line, int status, std::string body);
    // The same for good: what was laid down for this line before is forgotten.
    void always(std::string const& line, int status, std::string body);
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::vector<Seen> seen() const;
    // The body of the first request with this line; empty when there was none.
    [[nodiscard]] std::string body_of(std::string const& line) const;
    // The server closes each connection after that many requests, without saying so (0: never).
    void close_after(int requests) { close_after_ = requests; }
    // From now on requests are read, and their connections closed without an answer.
    void fall_silent() { silent_ = true; }

private:
    void serve();
    void serve_connection(int fd);
    [[nodiscard]] std::string reply_to(Seen const& request);

    io::Fd listener_;
    io::Fd wake_;
    int port_ = 0;
    std::atomic<bool> stopping_ = false;
    std::atomic<int> close_after_ = 0;
    std::atomic<bool> silent_ = false;
    mutable std::mutex mutex_;  // protects what follows
    std::map<std::string, std::vector<std::pair<int, std::string>>> answers_;
    std::vector<Seen> seen_;
    std::vector<std::thread> connections_;
    std::thread thread_;
};

}  // namespace dormouse::cli
