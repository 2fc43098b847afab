#pragma once
// Owner of a file descriptor.

#include <unistd.h>
#include <cerrno>
#include <string_view>
#include <utility>

namespace dormouse::io {

// Closes its file descriptor when destroyed. -1: none.
class Fd {
public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    ~Fd() { close(); }
    Fd(Fd&& other) noexcept : fd_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool open() const { return fd_ >= 0; }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }
    void close() {
        if (fd_ >= 0) ::close(release());
    }

private:
    int fd_;
};

// Writes all bytes, in several calls if necessary. False: errno is set, and a part may be written.
[[nodiscard]] inline bool write_whole(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t const put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

}  // namespace dormouse::io
