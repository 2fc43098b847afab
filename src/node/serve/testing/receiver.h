#pragma once
// A web server on this machine that receives webhooks one at a time, for tests.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdint>
#include <string>

namespace dormouse::serve::testing {

class Receiver {
public:
    Receiver() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        if (::bind(fd_, plain, size) == 0 && ::listen(fd_, 16) == 0 &&
            ::getsockname(fd_, plain, &size) == 0)
            port_ = ntohs(address.sin_port);
    }
    ~Receiver() { ::close(fd_); }
    Receiver(Receiver const&) = delete;
    Receiver& operator=(Receiver const&) = delete;

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    // Answers the next request with 503.
    void refuse() { status_ = "503 No"; }
    // Returns the next request; empty: none came within 20 s.
    [[nodiscard]] std::string next() {
        pollfd wait{fd_, POLLIN, 0};
        if (::poll(&wait, 1, 20'000) != 1) return "";
        int const peer = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        std::string out;
        char buffer[4096];
        while (!whole(out)) {
            auto const n = ::recv(peer, buffer, sizeof buffer, 0);
            if (n <= 0) break;
            out.append(buffer, static_cast<std::size_t>(n));
        }
        std::string const answer = "HTTP/1.1 " + status_ + "\r\nContent-Length: 0\r\n\r\n";
        (void)::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
        ::close(peer);
        status_ = "200 OK";
        return out;
    }

private:
    static bool whole(std::string const& text) {
        auto const end = text.find("\r\n\r\n");
        return end != std::string::npos && text.size() > end + 4 && text.ends_with('}');
    }

    int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::uint16_t port_ = 0;
    std::string status_ = "200 OK";
};

}  // namespace dormouse::serve::testing
