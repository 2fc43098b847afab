#include "cli/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

namespace dormouse::cli {
namespace {

int milliseconds_until(Deadline deadline) {
    auto const left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

sigset_t interrupt_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    return set;
}

// OpenSSL writes without MSG_NOSIGNAL; a server that went away must be an error, not the end.
class IgnoredPipe {
public:
    IgnoredPipe() { ::sigaction(SIGPIPE, &ignore_, &before_); }
    ~IgnoredPipe() { ::sigaction(SIGPIPE, &before_, nullptr); }
    IgnoredPipe(IgnoredPipe const&) = delete;
    IgnoredPipe& operator=(IgnoredPipe const&) = delete;

private:
    struct sigaction ignore_ = ignoring();
    struct sigaction before_{};

    static struct sigaction ignoring() {
        struct sigaction out{};
        out.sa_handler = SIG_IGN;
        return out;
    }
};

std::unexpected<Failure> lost(std::string const& why) {
    return failure(status::unreachable, "the connection to the server was lost: " + why);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Outcome<Addresses> resolve(std::string const& host, std::string const& port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    int const error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (error != 0) {
        return failure(status::unreachable,
                       "cannot find the server " + host + ": " + gai_strerror(error),
                       "Check --server or $DORMOUSE_URL.");
    }
    return Addresses(found, &freeaddrinfo);
}

}  // namespace

Deadline in(Duration duration) { return std::chrono::steady_clock::now() + duration; }

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

Descriptor::~Descriptor() { close(); }

void Descriptor::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Interrupts::Interrupts() {
    auto const set = interrupt_signal();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Interrupts::~Interrupts() {
    signalfd_siginfo seen{};
    while (::read(fd_.get(), &seen, sizeof seen) > 0) {
    }  // what was answered must not end the process now
    auto const set = interrupt_signal();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

bool Interrupts::sleep(Duration duration, int output_fd) const {
    std::array<pollfd, 2> waiting{pollfd{fd_.get(), POLLIN, 0}, pollfd{output_fd, 0, 0}};
    return ::poll(waiting.data(), waiting.size(), milliseconds_until(in(duration))) > 0;
}

Outcome<void> Socket::wait(short events, Deadline deadline) const {
    std::array<pollfd, 3> waiting{pollfd{fd_.get(), events, 0}, pollfd{interrupt_fd_, POLLIN, 0},
                                  pollfd{output_fd_, 0, 0}};
    for (;;) {
        int const ready = ::poll(waiting.data(), waiting.size(), milliseconds_until(deadline));
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return lost(std::strerror(errno));
        if (ready == 0) return failure(status::unreachable, "the server did not answer in time");
        if (waiting[1].revents != 0) return failure(status::interrupted, "interrupted");
        if ((waiting[2].revents & (POLLERR | POLLHUP)) != 0) return failure(status::unread, "");
        if ((waiting[2].revents & POLLNVAL) != 0) waiting[2].fd = -1;
        if (waiting[0].revents == 0) continue;
        return {};
    }
}

Outcome<void> Socket::secure(std::string const& host) {
    host_ = host;
    auto const client = io::TlsClient::make();
    if (client) tls_ = (*client)->connect(fd_.get(), host);
    if (!tls_) return failure(status::failed, "TLS cannot be used for " + host);
    return {};
}

Outcome<Socket> Socket::connect(Address const& address, Deadline deadline, int interrupt_fd) {
    auto const& [host, port, tls] = address;
    auto const addresses = resolve(host, port);
    if (!addresses) return std::unexpected(addresses.error());
    int error = 0;
    for (addrinfo const* at = addresses->get(); at != nullptr; at = at->ai_next) {
        Socket socket;
        socket.interrupt_fd_ = interrupt_fd;
        socket.fd_ =
            Descriptor(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        error = 0;
        if (::connect(socket.fd_.get(), at->ai_addr, at->ai_addrlen) != 0) error = errno;
        if (error == EINPROGRESS) {
            if (auto const ready = socket.wait(POLLOUT, deadline); !ready)
                return std::unexpected(ready.error());
            socklen_t size = sizeof error;
            getsockopt(socket.fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        }
        int const on = 1;
        setsockopt(socket.fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (error != 0) continue;
        if (auto const done = tls ? socket.secure(host) : Outcome<void>(); !done)
            return std::unexpected(done.error());
        return socket;
    }
    return failure(status::unreachable,
                   "no server at " + host + ":" + port + " (" + std::strerror(error) + ")",
                   "Start one with: dormouse serve. Or name it: --server URL, $DORMOUSE_URL.");
}

Outcome<void> Socket::wait(io::TlsStream::State state, Deadline deadline) const {
    using enum io::TlsStream::State;
    switch (state) {
        case moved: return {};
        case wait_read: return wait(POLLIN, deadline);
        case wait_write: return wait(POLLOUT, deadline);
        case ended: return lost("it was closed");
        case failed: break;
    }
    auto const why = tls_->why_failed();
    if (why.contains("wrong version number") || why.contains("packet length too long"))
        return failure(status::unreachable, "no TLS with " + host_ + ": it speaks plain http there",
                       "Write http:// instead of https://, or ask for the server's https address.");
    return failure(status::unreachable, "no TLS with " + host_ + ": " + why,
                   "A private authority is named by $SSL_CERT_FILE.");
}

Outcome<void> Socket::send(std::string_view bytes, Deadline deadline) {
    IgnoredPipe const ignored;
    while (tls_ && !bytes.empty()) {
        auto const sent = tls_->write(bytes);
        bytes.remove_prefix(sent.bytes);
        if (auto const ready = wait(sent.state, deadline); !ready) return ready;
    }
    while (!bytes.empty()) {
        auto const sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN) {
            if (auto const ready = wait(POLLOUT, deadline); !ready) return ready;
        } else if (errno != EINTR) {
            return lost(std::strerror(errno));
        }
    }
    return {};
}

Outcome<std::size_t> Socket::receive(std::span<char> into, Deadline deadline) {
    for (IgnoredPipe const ignored; tls_;) {
        auto const got = tls_->read(into);
        if (got.bytes > 0 || got.state == io::TlsStream::State::ended) return got.bytes;
        if (auto const ready = wait(got.state, deadline); !ready)
            return std::unexpected(ready.error());
    }
    for (;;) {
        if (auto const ready = wait(POLLIN, deadline); !ready)
            return std::unexpected(ready.error());
        auto const got = ::recv(fd_.get(), into.data(), into.size(), 0);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR && errno != EAGAIN) return lost(std::strerror(errno));
    }
}

}  // namespace dormouse::cli
