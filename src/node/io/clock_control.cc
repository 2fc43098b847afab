#include "io/clock_control.h"

#include "io/asio.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <fcntl.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace dormouse::io {

namespace asio = boost::asio;

namespace {

constexpr std::size_t line_max = 64;
constexpr std::int64_t step_max_ms = std::int64_t{100} * 366 * 24 * 3'600'000;  // a century

constexpr std::string_view wrong = "error: must be advance MILLISECONDS, at most 100 years\n";

template <class Number> bool parse(std::string_view text, Number& out) {
    auto const end = text.data() + text.size();
    auto const [stop, code] = std::from_chars(text.data(), end, out);
    return code == std::errc() && stop == end && !text.empty();
}

int option(int socket, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool connected_unix_stream(int socket) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    return option(socket, SO_DOMAIN) == AF_UNIX && option(socket, SO_TYPE) == SOCK_STREAM &&
           ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

}  // namespace

struct ClockControl::Impl : std::enable_shared_from_this<ClockControl::Impl> {
    Impl(AsioLoop& loop_, MovableClock& clock_, int fd)
        : loop(loop_), clock(clock_), socket(context_of(loop_), fd) {}

    void read() {
        asio::async_read_until(socket, asio::dynamic_buffer(in, line_max), '\n',
                               [self = shared_from_this()](auto const& error, std::size_t size) {
                                   if (!error) self->take(size);
                               });
    }

    // Applies lines that were sent before the process started.
    void take_waiting() {
        std::string waiting(line_max, '\0');
        auto const got =
            ::recv(socket.native_handle(), waiting.data(), waiting.size(), MSG_DONTWAIT);
        if (got <= 0) return;
        in.assign(waiting, 0, static_cast<std::size_t>(got));
        for (auto end = in.find('\n'); end != std::string::npos; end = in.find('\n')) {
            std::string_view const reply = moved(next_line(end + 1)) ? "ok\n" : wrong;
            (void)::send(socket.native_handle(), reply.data(), reply.size(), MSG_NOSIGNAL);
        }
    }

    void take(std::size_t size) {
        if (!moved(next_line(size))) return answer(std::string(wrong));
        loop.run_due();
        settle([self = shared_from_this()] { self->answer("ok\n"); });
    }

    std::string next_line(std::size_t size) {
        std::string line = in.substr(0, size - 1);
        in.erase(0, size);
        return line;
    }

    bool moved(std::string_view line) {
        constexpr std::string_view command = "advance ";
        std::int64_t ms = -1;
        bool const known = line.starts_with(command) && parse(line.substr(command.size()), ms);
        if (!known || ms < 0 || ms > step_max_ms) return false;
        clock.advance(Duration(ms));
        return true;
    }

    void answer(std::string line) {
        out = std::move(line);
        asio::async_write(socket, asio::buffer(out),
                          [self = shared_from_this()](auto const& error, std::size_t) {
                              if (!error) self->read();
                          });
    }

    AsioLoop& loop;
    MovableClock& clock;
    asio::posix::stream_descriptor socket;
    port::Fn<void(port::Fn<void()>)> settle;
    std::string in;
    std::string out;
};

Result<std::unique_ptr<ClockControl>> ClockControl::of_environment(AsioLoop& loop,
                                                                   MovableClock& clock) {
    char const* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
    if (!text) return nullptr;
    int fd = -1;
    if (!parse(std::string_view(text), fd) || fd <= 2 || !connected_unix_stream(fd))
        return fail(Code::bad_value,
                    std::string(variable) +
                        " must be the number of an inherited, connected Unix socket; it is for "
                        "tests only, so unset it");
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    auto control = std::make_unique<ClockControl>(loop, clock, fd);
    control->impl_->take_waiting();
    return control;
}

ClockControl::ClockControl(AsioLoop& loop, MovableClock& clock, int socket)
    : impl_(std::make_shared<Impl>(loop, clock, socket)) {}

ClockControl::~ClockControl() {
    boost::system::error_code ignored;
    impl_->socket.close(ignored);
}

void ClockControl::start(port::Fn<void(port::Fn<void()>)> settle) {
    impl_->settle = std::move(settle);
    impl_->read();
}

}  // namespace dormouse::io
