#pragma once
// A TCP connection with deadlines, with TLS or without, and the interrupt key as something to wait
// for. Blocking; one thread.

#include <dormouse/time.h>

#include "cli/failure.h"
#include "io/tls.h"

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dormouse::cli {

using Deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] Deadline in(Duration duration);

// A file descriptor that closes itself.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool open() const { return fd_ >= 0; }
    void close();

private:
    int fd_ = -1;
};

// While it lives Ctrl-C makes fd() readable and does not end the process.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(Interrupts const&) = delete;
    Interrupts& operator=(Interrupts const&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }
    // Waits; true if Ctrl-C came meanwhile, or nobody reads `output_fd` any more.
    [[nodiscard]] bool sleep(Duration duration, int output_fd = -1) const;

private:
    Descriptor fd_;
};

struct Address {
    std::string host;  // without the brackets of IPv6
    std::string port;
    bool tls = false;
};

// Errors: exit `unreachable` when the connection is refused, lost or too slow; `interrupted` when
// `interrupt_fd` (−1: none) became readable.
class Socket {
public:
    Socket() = default;
    [[nodiscard]] static Outcome<Socket> connect(Address const& address, Deadline deadline,
                                                 int interrupt_fd);

    [[nodiscard]] Outcome<void> send(std::string_view bytes, Deadline deadline);
    // How many bytes came; 0: the other side closed.
    [[nodiscard]] Outcome<std::size_t> receive(std::span<char> into, Deadline deadline);

    // From now on receive() ends with exit `unread` when nobody reads `output_fd` any more.
    void watch(int output_fd) { output_fd_ = output_fd; }

    [[nodiscard]] bool open() const { return fd_.open(); }
    [[nodiscard]] int fd() const { return fd_.get(); }
    void close() { fd_.close(); }

private:
    [[nodiscard]] Outcome<void> secure(std::string const& host);
    [[nodiscard]] Outcome<void> wait(short events, Deadline deadline) const;
    // Waits for what TLS waits for, and says what it can not do.
    [[nodiscard]] Outcome<void> wait(io::TlsStream::State state, Deadline deadline) const;

    Descriptor fd_;
    std::string host_;
    std::unique_ptr<io::TlsStream> tls_;  // nullptr: none. Uses fd_, without owning it
    int interrupt_fd_ = -1;
    int output_fd_ = -1;
};

}  // namespace dormouse::cli
