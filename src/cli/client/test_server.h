#pragma once
// For tests: a small HTTP server on its own thread that returns prepared replies. A target without
// a reply is 404 not_found. Replies for the same "METHOD target" are returned in order; the last
// one repeats.

#include "io/fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cstdlib>
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

    // Adds a reply. A body that begins with "id:", "event:" or ":" is sent as an event stream,
    // which then ends.
    void answer(std::string const& line, int status, std::string body);
    // Sets the only reply for this line and removes earlier ones.
    void always(std::string const& line, int status, std::string body);
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::vector<Seen> seen() const;
    // Returns the body of the first request with this line; empty when there was none.
    [[nodiscard]] std::string body_of(std::string const& line) const;
    // Closes each connection after that many requests without notice (0: never).
    void close_after(int requests) { close_after_ = requests; }
    // From now on reads requests and closes their connections without a reply.
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

inline constexpr char const* not_found =
    R"({"type":"/errors/not_found","title":"There is no such thing","status":404,)"
    R"("code":"not_found","detail":"","next":"fix","retryAfter":null})";

inline bool is_stream(std::string const& body) {
    return body.starts_with("id:") || body.starts_with("event:") || body.starts_with(':');
}

inline std::size_t content_length(std::string const& head) {
    auto const at = head.find("Content-Length: ");
    return at == std::string::npos ? 0
                                   : static_cast<std::size_t>(std::atoi(head.c_str() + at + 16));
}

inline FakeServer::FakeServer()
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), wake_(eventfd(0, EFD_CLOEXEC)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const generic = static_cast<sockaddr*>(static_cast<void*>(&at));
    if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 16) != 0)
        std::abort();
    getsockname(listener_.get(), generic, &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { serve(); });
}

inline FakeServer::~FakeServer() {
    stopping_ = true;
    std::uint64_t const one = 1;
    if (::write(wake_.get(), &one, sizeof one) < 0) std::abort();
    thread_.join();
    for (auto& connection : connections_) connection.join();
}

inline void FakeServer::answer(std::string const& line, int status, std::string body) {
    std::lock_guard const lock(mutex_);
    answers_[line].emplace_back(status, std::move(body));
}

inline void FakeServer::always(std::string const& line, int status, std::string body) {
    std::lock_guard const lock(mutex_);
    answers_[line] = {{status, std::move(body)}};
}

inline std::string FakeServer::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

inline std::vector<FakeServer::Seen> FakeServer::seen() const {
    std::lock_guard const lock(mutex_);
    return seen_;
}

inline std::string FakeServer::body_of(std::string const& line) const {
    std::lock_guard const lock(mutex_);
    for (auto const& request : seen_) {
        if (request.line == line) return request.body;
    }
    return {};
}

inline void FakeServer::serve() {
    for (;;) {
        std::array<pollfd, 2> waiting{pollfd{listener_.get(), POLLIN, 0},
                                      pollfd{wake_.get(), POLLIN, 0}};
        ::poll(waiting.data(), waiting.size(), -1);
        if (stopping_) return;
        int const fd = ::accept(listener_.get(), nullptr, nullptr);
        if (fd < 0) continue;
        std::lock_guard const lock(mutex_);
        connections_.emplace_back([this, fd] { serve_connection(fd); });
    }
}

inline void FakeServer::serve_connection(int fd) {
    io::Fd const connection(fd);
    std::string received;
    std::array<char, 4096> chunk{};
    for (int served = 0;;) {
        auto const end = received.find("\r\n\r\n");
        auto const whole =
            end == std::string::npos ? 0 : end + 4 + content_length(received.substr(0, end));
        if (whole == 0 || received.size() < whole) {
            std::array<pollfd, 2> waiting{pollfd{fd, POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
            ::poll(waiting.data(), waiting.size(), -1);
            if (waiting[0].revents == 0) return;
            auto const got = ::recv(fd, chunk.data(), chunk.size(), 0);
            if (got <= 0) return;
            received.append(chunk.data(), static_cast<std::size_t>(got));
            continue;
        }
        Seen request{received.substr(0, received.find(" HTTP/")), received.substr(0, end),
                     received.substr(end + 4, whole - end - 4)};
        received.erase(0, whole);
        auto const reply = reply_to(request);
        if (silent_) return;
        if (::send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return;
        if (reply.find("text/event-stream") != std::string::npos) return;
        if (++served == close_after_) return;
    }
}

inline std::string FakeServer::reply_to(Seen const& request) {
    std::lock_guard const lock(mutex_);
    seen_.push_back(request);
    int status = 404;
    std::string body = not_found;
    if (auto const found = answers_.find(request.line); found != answers_.end()) {
        status = found->second.front().first;
        body = found->second.front().second;
        if (found->second.size() > 1) found->second.erase(found->second.begin());
    }
    auto const head = "HTTP/1.1 " + std::to_string(status) + " Said\r\n";
    if (is_stream(body))
        return head + "Content-Type: text/event-stream\r\nConnection: close\r\n\r\n" + body;
    return head +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

}  // namespace dormouse::cli
