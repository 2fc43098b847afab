#include "io/process.h"

#include "io/asio.h"
#include "io/spawn.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace dormouse::io {

namespace asio = boost::asio;
using port::ProcessEnd;
using port::ProcessSpec;

namespace {

// A program that only complains is ended too, far beyond what anybody reads.
constexpr std::size_t error_max = std::size_t{16} << 20;

}  // namespace

// One program from its start to the moment when it is reaped. On the loop.
class Child : public std::enable_shared_from_this<Child> {
public:
    using Done = port::Fn<void(ProcessEnd)>;

    Child(asio::io_context& context, ProcessSpec spec, Spawned spawned)
        : spec_(std::move(spec)),
          pid_(spawned.pid),
          exit_(context, spawned.exit.release()),
          input_(context, spawned.input.release()),
          output_(context, spawned.output.release()),
          error_(context, spawned.error.release()),
          side_(context, spawned.side.release()),
          timer_(context),
          to_write_(spec_.input) {}

    void watch(Done done) {
        done_ = std::move(done);
        wait_for_exit();
        for (asio::posix::stream_descriptor* stream : {&output_, &error_, &side_}) read(*stream);
        write();
        if (spec_.time_limit == Duration::max()) return;
        timer_.expires_after(spec_.time_limit);
        timer_.async_wait([self = shared_from_this()](auto const& error) {
            if (!error) self->on_time();
        });
    }

    // Nothing is told of it any more, save that it is gone.
    void forget_outcome() {
        silent_ = true;
        terminate();
    }

    void say(std::string_view bytes) {
        if (reaped_ || !input_.is_open()) return;
        bool const idle = to_write_.empty();
        to_write_ += bytes;
        if (to_write_.size() - written_ > port::Processes::backlog_max) {
            (void)flooded();
        } else if (idle) {
            write();
        }
    }

    void ask_to_end() {
        forget_input();
        close(input_);  // whoever talks with us knows what that means, and may tidy up
        if (reaped_ || terminating_) return;
        timer_.expires_after(ProcessHost::grace);
        timer_.async_wait([self = shared_from_this()](auto const& error) {
            if (!error) self->terminate();
        });
    }

    void terminate() {
        if (reaped_ || std::exchange(terminating_, true)) return;
        kill_group(SIGTERM);
        timer_.expires_after(ProcessHost::grace);
        timer_.async_wait([self = shared_from_this()](auto const& error) {
            if (!error) self->kill_group(SIGKILL);
        });
    }

    // At the end of the server: at once, and without telling anybody.
    void end_now() {
        done_ = {};
        if (reaped_) return;
        kill_group(SIGKILL);
        pollfd gone{exit_.native_handle(), POLLIN, 0};
        (void)::poll(&gone, 1, 1'000);
        reap();
        close_all();
    }

    [[nodiscard]] bool silent() const { return silent_; }

private:
    using Stream = asio::posix::stream_descriptor;

    void wait_for_exit() {
        exit_.async_wait(Stream::wait_read, [self = shared_from_this()](auto const& error) {
            if (!error) self->on_exit();
        });
    }

    void read(Stream& stream) {
        stream.async_wait(Stream::wait_read, [self = shared_from_this(), &stream](auto const& e) {
            if (!e && !self->reaped_ && self->take(stream)) self->read(stream);
        });
    }

    // Takes what is there. False: nothing more will come of it.
    bool take(Stream& stream) {
        std::array<char, 65'536> buffer;
        // Bounded, so that one that never stops writing does not hold the loop.
        for (int i = 0; i < 16; ++i) {
            ssize_t const got = ::read(stream.native_handle(), buffer.data(), buffer.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return errno == EAGAIN;
            if (got == 0) return false;
            if (!keep(stream, {buffer.data(), static_cast<std::size_t>(got)})) return false;
        }
        return true;
    }

    bool keep(Stream const& stream, std::string_view bytes) {
        if (&stream == &error_) {
            error_total_ += bytes.size();
            end_.error += bytes;
            if (end_.error.size() > 2 * spec_.error_kept)
                end_.error.erase(0, end_.error.size() - spec_.error_kept);
            return error_total_ <= error_max || flooded();
        }
        if (&stream == &output_ && spec_.on_output) {
            if (!silent_) spec_.on_output(bytes);
            return true;
        }
        bool const side = &stream == &side_;
        std::string& kept = side ? end_.side : end_.output;
        kept += bytes;
        return kept.size() <= (side ? spec_.side_max : spec_.output_max) || flooded();
    }

    bool flooded() {
        if (!forced_) forced_ = ProcessEnd::How::flooded;
        kill_group(SIGKILL);
        return false;
    }

    void write() {
        if (written_ == to_write_.size()) {
            to_write_.clear();
            written_ = 0;
            if (!spec_.on_output) close(input_);
            return;
        }
        input_.async_wait(Stream::wait_write, [self = shared_from_this()](auto const& error) {
            if (!error && !self->reaped_) self->write_some();
        });
    }

    void write_some() {
        if (to_write_.empty()) return;
        std::string_view const rest = std::string_view(to_write_).substr(written_);
        ssize_t const put = ::write(input_.native_handle(), rest.data(), rest.size());
        if (put < 0 && errno != EAGAIN && errno != EINTR) {  // it does not read
            forget_input();
            return close(input_);
        }
        if (put > 0) written_ += static_cast<std::size_t>(put);
        write();
    }

    void forget_input() {
        to_write_.clear();
        written_ = 0;
    }

    void on_time() {
        if (!forced_) forced_ = ProcessEnd::How::timed_out;
        terminate();
    }

    // Until it is reaped nobody else can have its number, nor its group's.
    void kill_group(int signal) const {
        if (!reaped_) ::kill(-pid_, signal);
    }

    // It has ended. What it wrote is in the pipes already, whoever else still holds them.
    void on_exit() {
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG);
        if (info.si_pid == 0) return wait_for_exit();  // Asio may wake for one that was closed
        for (Stream* stream : {&output_, &error_, &side_}) (void)take(*stream);
        bool const exited = info.si_code == CLD_EXITED;
        end_.how = forced_.value_or(exited ? ProcessEnd::How::exited : ProcessEnd::How::signalled);
        end_.status = info.si_status;
        if (end_.error.size() > spec_.error_kept)
            end_.error.erase(0, end_.error.size() - spec_.error_kept);
        bool const leaves = !silent_ && end_.how == ProcessEnd::How::exited &&
                            spec_.may_leave_behind && spec_.may_leave_behind(end_);
        if (!leaves) kill_group(SIGKILL);
        reap();
        close_all();
        if (auto done = std::exchange(done_, {})) done(std::move(end_));
    }

    void reap() {
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
        reaped_ = true;
    }

    void close_all() {
        timer_.cancel();
        for (Stream* stream : {&exit_, &input_, &output_, &error_, &side_}) close(*stream);
    }

    static void close(Stream& stream) {
        boost::system::error_code ignored;
        if (stream.is_open()) stream.close(ignored);
    }

    ProcessSpec const spec_;
    pid_t const pid_;
    Stream exit_;  // readable once it has ended
    Stream input_, output_, error_, side_;
    asio::steady_timer timer_;
    Done done_;
    ProcessEnd end_;
    std::optional<ProcessEnd::How> forced_;  // why we ended it
    std::string to_write_;
    std::size_t written_ = 0;  // of it
    std::size_t error_total_ = 0;
    bool terminating_ = false;
    bool silent_ = false;
    bool reaped_ = false;
};

ProcessHost::ProcessHost(AsioLoop& loop) : loop_(loop) {}

ProcessHost::~ProcessHost() {
    for (auto const& [number, child] : children_) child->end_now();
}

port::Processes::Number ProcessHost::start(ProcessSpec spec, port::Fn<void(ProcessEnd)> done) {
    Number const number = ++last_;
    Spawned spawned;
    spawned.error_number = children_.size() < running_max ? 0 : EAGAIN;
    if (spawned.error_number == 0) spawned = spawn(spec);
    if (spawned.error_number != 0) {
        ProcessEnd end{ProcessEnd::How::not_started, 0, {}, {}, {}};
        end.error = std::strerror(spawned.error_number);
        constexpr std::array passing{EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY};
        end.try_again = std::ranges::find(passing, spawned.error_number) != passing.end();
        loop_.post(
            [end = std::move(end), done = std::move(done)]() mutable { done(std::move(end)); });
        return number;
    }
    auto child = std::make_shared<Child>(context_of(loop_), std::move(spec), std::move(spawned));
    children_.emplace(number, child);
    child->watch([this, number, done = std::move(done)](ProcessEnd end) mutable {
        auto const ended = children_.extract(number);
        if (!ended.mapped()->silent()) done(std::move(end));
    });
    return number;
}

void ProcessHost::write(Number process, std::string_view bytes) {
    if (auto const found = children_.find(process); found != children_.end())
        found->second->say(bytes);
}

void ProcessHost::end(Number process) {
    if (auto const found = children_.find(process); found != children_.end())
        found->second->ask_to_end();
}

void ProcessHost::kill(Number process) {
    if (auto const found = children_.find(process); found != children_.end())
        found->second->terminate();
}

void ProcessHost::stop(Number process) {
    if (auto const found = children_.find(process); found != children_.end())
        found->second->forget_outcome();
}

}  // namespace dormouse::io
