#include "cli/bench/load.h"

#include "base/check.h"
#include "base/text/text.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <array>
#include <cerrno>
#include <cstring>

namespace dormouse::cli {
namespace {

constexpr int silence_limit_ms = 60'000;

std::unexpected<Failure> went_away(std::string const& why) {
    return failure(status::unreachable, "the server went away: " + why);
}

Outcome<io::Fd> connected(Address const& address) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    auto const port = parse_number(address.port);
    if (inet_pton(AF_INET, address.host.c_str(), &to.sin_addr) != 1 || !port) {
        return failure(status::failed, "not an IPv4 address: " + address.host + ":" + address.port);
    }
    to.sin_port = htons(static_cast<std::uint16_t>(*port));
    io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.open())
        return failure(status::failed, std::string("no socket: ") + std::strerror(errno));
    sockaddr generic{};
    std::memcpy(&generic, &to, sizeof generic);
    if (::connect(fd.get(), &generic, sizeof generic) != 0) return went_away(std::strerror(errno));
    int const on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

// Compares header names without case.
bool is_header(std::string_view line, std::string_view name) {
    return line.size() > name.size() && strncasecmp(line.data(), name.data(), name.size()) == 0;
}

}  // namespace

std::optional<ReplyHead> reply_head(std::string_view bytes) {
    auto const end = bytes.find("\r\n\r\n");
    constexpr std::string_view version = "HTTP/1.1 ";
    if (end == std::string_view::npos || !bytes.starts_with(version)) return std::nullopt;
    auto const code = parse_number(bytes.substr(version.size(), 3));
    if (!code) return std::nullopt;
    constexpr std::string_view name = "content-length:";
    for (auto at = bytes.find("\r\n"); at < end; at = bytes.find("\r\n", at + 2)) {
        auto line = bytes.substr(at + 2, bytes.find("\r\n", at + 2) - at - 2);
        if (!is_header(line, name)) continue;
        line.remove_prefix(name.size());
        while (line.starts_with(' ')) line.remove_prefix(1);
        auto const length = parse_number(line);
        if (!length) return std::nullopt;
        return ReplyHead{static_cast<int>(*code), end + 4, static_cast<std::size_t>(*length)};
    }
    return std::nullopt;
}

std::string_view member_text(std::string_view json, std::string_view name) {
    for (auto at = json.find(name); at != std::string_view::npos; at = json.find(name, at + 1)) {
        if (at == 0 || json[at - 1] != '"') continue;
        auto const rest = json.substr(at + name.size());
        if (!rest.starts_with("\":\"")) continue;
        auto const value = rest.substr(3);
        return value.substr(0, value.find('"'));
    }
    return {};
}

Outcome<LoadClient> LoadClient::open(std::vector<Address> const& servers, std::size_t connections) {
    CHECK(!servers.empty());
    LoadClient client;
    client.epoll_ = io::Fd(epoll_create1(EPOLL_CLOEXEC));
    client.links_.resize(connections);
    for (std::size_t i = 0; i < connections; ++i) {
        auto fd = connected(servers[i % servers.size()]);
        if (!fd) return std::unexpected(fd.error());
        epoll_event interest{};
        interest.events = EPOLLIN;
        interest.data.u64 = i;
        client.links_[i].fd = *std::move(fd);
        epoll_ctl(client.epoll_.get(), EPOLL_CTL_ADD, client.links_[i].fd.get(), &interest);
    }
    return client;
}

Outcome<LoadClient::Step> LoadClient::ask(std::size_t at, LoadScript& script) {
    auto& link = links_[at];
    link.request.clear();
    link.received.clear();
    if (!script.next(at, link.request)) return Step::idle;
    link.sent = std::chrono::steady_clock::now();
    // The sockets block: a request is smaller than the kernel's send buffer.
    std::string_view left = link.request;
    while (!left.empty()) {
        auto const sent = ::send(link.fd.get(), left.data(), left.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return went_away(std::strerror(errno));
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return Step::waits;
}

Outcome<LoadClient::Step> LoadClient::receive(std::size_t at, LoadScript& script) {
    auto& link = links_[at];
    std::array<char, 16 * 1024> chunk;
    auto const got = ::recv(link.fd.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return Step::waits;
    if (got <= 0) return went_away(got == 0 ? "it closed the connection" : std::strerror(errno));
    link.received.append(chunk.data(), static_cast<std::size_t>(got));
    auto const head = reply_head(link.received);
    if (!head && link.received.find("\r\n\r\n") != std::string::npos) {
        return failure(status::failed, "a reply without Content-Length");
    }
    if (!head || link.received.size() < head->size + head->content_length) return Step::waits;
    auto const took = std::chrono::steady_clock::now() - link.sent;
    auto const body = std::string_view(link.received).substr(head->size, head->content_length);
    auto const took_us = std::chrono::duration<double, std::micro>(took).count();
    if (!script.take(at, head->status, body, took_us)) return Step::ended;
    return ask(at, script);
}

Outcome<void> LoadClient::run(LoadScript& script) {
    std::size_t open = 0;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        auto const step = ask(i, script);
        if (!step) return std::unexpected(step.error());
        if (*step == Step::waits) ++open;
    }
    std::array<epoll_event, 256> ready{};
    while (open > 0) {
        int const count = epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()),
                                     silence_limit_ms);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return went_away("no answer for a minute");
        for (int i = 0; i < count; ++i) {
            auto const step = receive(ready[static_cast<std::size_t>(i)].data.u64, script);
            if (!step) return std::unexpected(step.error());
            if (*step == Step::ended) return {};
            if (*step == Step::idle) --open;
        }
    }
    return {};
}

}  // namespace dormouse::cli
