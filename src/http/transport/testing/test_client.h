#pragma once
// For tests: a blocking client that sends raw bytes and reads raw replies; every wait has a time
// limit.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace dormouse::http {

class TestClient {
public:
    explicit TestClient(std::uint16_t port, int family = AF_INET) {
        fd_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        timeval const limit{5, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (family == AF_INET6) {
            sockaddr_in6 to{};
            to.sin6_family = AF_INET6;
            to.sin6_port = htons(port);
            to.sin6_addr = in6addr_loopback;
            connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
        } else {
            sockaddr_in to{};
            to.sin_family = AF_INET;
            to.sin_port = htons(port);
            to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
        }
    }
    TestClient(TestClient&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)),
          connected_(other.connected_),
          received_(std::move(other.received_)) {}
    TestClient& operator=(TestClient&&) = delete;
    ~TestClient() { close(); }

    [[nodiscard]] bool connected() const { return connected_; }
    [[nodiscard]] int fd() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    void half_close() { ::shutdown(fd_, SHUT_WR); }

    // Returns how many bytes the server accepted.
    std::size_t send(std::string_view bytes) {
        std::size_t sent = 0;
        while (sent < bytes.size()) {
            auto const n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (n <= 0) break;
            sent += static_cast<std::size_t>(n);
        }
        return sent;
    }

    // Returns the bytes up to and including `mark` and keeps the rest. Returns all bytes if the
    // server closes first.
    std::string until(std::string_view mark) {
        while (received_.find(mark) == std::string::npos) {
            if (!more()) return std::exchange(received_, {});
        }
        return take(received_.find(mark) + mark.size());
    }

    // Returns one reply: head and body. `head_only`: a reply to HEAD.
    std::string reply(bool head_only = false) {
        auto head = until("\r\n\r\n");
        auto const at = head.find("Content-Length: ");
        if (head_only || at == std::string::npos) return head;
        auto const length = std::strtoul(head.c_str() + at + 16, nullptr, 10);
        while (received_.size() < length && more()) {}
        return head + take(std::min<std::size_t>(length, received_.size()));
    }

    // Returns all bytes until the server closes.
    std::string rest() {
        while (more()) {}
        return std::exchange(received_, {});
    }

    // Returns true if nothing has arrived and nothing arrives for `ms`.
    [[nodiscard]] bool silent(int ms) {
        pollfd waiting{fd_, POLLIN, 0};
        return received_.empty() && ::poll(&waiting, 1, ms) == 0;
    }

private:
    bool more() {
        char buffer[16 * 1024];
        auto const n = ::recv(fd_, buffer, sizeof buffer, 0);
        if (n > 0) received_.append(buffer, static_cast<std::size_t>(n));
        return n > 0;
    }
    std::string take(std::size_t count) {
        auto out = received_.substr(0, count);
        received_.erase(0, count);
        return out;
    }

    int fd_ = -1;
    bool connected_ = false;
    std::string received_;
};

}  // namespace dormouse::http
