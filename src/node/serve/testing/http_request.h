#pragma once
// One blocking HTTP exchange with a server on this machine, for tests.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <string>

namespace dormouse::serve::testing {

struct Answer {
    int status = 0;  // 0: no answer
    std::string head;
    std::string body;
};

// `base` is http://127.0.0.1:PORT; each line of `more` ends with CR LF.
inline Answer exchange(std::string const& base, std::string const& method, std::string const& path,
                       std::string const& body, std::string const& token,
                       std::string const& more = "") {
    Answer out;
    std::string const host = base.substr(base.find("://") + 3);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(
        static_cast<std::uint16_t>(std::strtoul(host.c_str() + host.find(':') + 1, nullptr, 10)));
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string request =
        method + " " + path + " HTTP/1.1\r\nHost: " + host +
        "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    if (!body.empty()) request += "Content-Type: application/json\r\n";
    if (!token.empty()) request += "Authorization: Bearer " + token + "\r\n";
    request += more + "\r\n" + body;
    std::string all;
    bool const sent = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
                          static_cast<ssize_t>(request.size());
    char buffer[4096];
    for (ssize_t got = 0; sent && (got = ::read(fd, buffer, sizeof buffer)) > 0;)
        all.append(buffer, static_cast<std::size_t>(got));
    ::close(fd);
    auto const end = all.find("\r\n\r\n");
    if (end == std::string::npos) return out;
    out.head = all.substr(0, end);
    out.body = all.substr(end + 4);
    out.status = std::atoi(out.head.c_str() + out.head.find(' ') + 1);
    return out;
}

}  // namespace dormouse::serve::testing
