#include "io/process/process.h"
#include "io/process/unwritten.h"

#include "io/asio.h"
#include "io/process/guard.h"
#include "io/process/spawn.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <poll.h>
#include <sys/socket.h>
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

// A program that only writes to stderr is ended too, far beyond useful output.
constexpr std::size_t error_max = std::size_t{16} << 20;

ProcessEnd not_started(int error_number) {
    ProcessEnd end{ProcessEnd::How::not_started, 0, {}, {}, {}};
    end.error = std::strerror(error_number);
    constexpr std::array passing{EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY};
    end.try_again = std::ranges::find(passing, error_number) != passing.end();
    return end;
}

}  // namespace

// One program from its start until everything that it started has ended. On the loop.
class Child : public std::enable_shared_from_this<Child> {
public:
    using Done = port::Fn<void(ProcessEnd)>;

    Child(asio::io_context& context, ProcessSpec spec, Spawned spawned)
        : spec_(std::move(spec)),
          pid_(spawned.pid),
          exit_(context, spawned.exit.release()),
          control_(context, spawned.control.release()),
          input_(context, spawned.input.release()),
          output_(context, spawned.output.release()),
          error_(context, spawned.error.release()),
          side_(context, spawned.side.release()),
          timer_(context) {
        to_write_.add(spec_.input);
    }

    void watch(Done done) {
        done_ = std::move(done);
        wait_for_exit();
        wait_for_report();
        for (asio::posix::stream_descriptor* stream : {&output_, &error_, &side_}) read(*stream);
        write();
        if (spec_.time_limit == Duration::max()) return;
        timer_.expires_after(spec_.time_limit);
        timer_.async_wait([self = shared_from_this()](auto const& error) {
            if (!error) self->on_time();
        });
    }

    // Reports no outcome any more, only that the process is gone.
    void forget_outcome() {
        silent_ = true;
        terminate();
    }

    void write_input(std::string_view bytes) {
        if (over_ || !input_.is_open()) return;
        bool const idle = to_write_.empty();
        to_write_.add(bytes);
        if (to_write_.rest().size() > port::Processes::backlog_max) {
            (void)flooded();
        } else if (idle) {
            write();
        }
    }

    void ask_to_end() {
        forget_input();
        close(input_);  // a program that reads its input then may end by itself
        if (over_ || terminating_) return;
        timer_.expires_after(ProcessHost::grace);
        timer_.async_wait([self = shared_from_this()](auto const& error) {
            if (!error) self->terminate();
        });
    }

    void terminate() {
        if (over_ || std::exchange(terminating_, true)) return;
        ask(Request::end);
        timer_.expires_after(ProcessHost::grace);
        timer_.async_wait([self = shared_from_this()](auto const& error) {
            if (!error) self->ask(Request::kill);
        });
    }

    // At the end of the server: kills at once, and reports nothing.
    void end_now() {
        done_ = {};
        close(control_);
    }

    // REQUIRES: end_now().
    void wait_for_end() {
        if (reaped_) return;
        pollfd gone{exit_.native_handle(), POLLIN, 0};
        (void)::poll(&gone, 1, 1'000);
        reap();
        close_all();
    }

    [[nodiscard]] std::string const& share() const { return spec_.share; }
    [[nodiscard]] bool silent() const { return silent_; }

private:
    using Stream = asio::posix::stream_descriptor;

    void wait_for_exit() {
        exit_.async_wait(Stream::wait_read, [self = shared_from_this()](auto const& error) {
            if (!error) self->on_exit();
        });
    }

    void wait_for_report() {
        control_.async_wait(Stream::wait_read, [self = shared_from_this()](auto const& error) {
            if (!error && self->take_report()) self->wait_for_report();
        });
    }

    // False: no more reports come.
    bool take_report() {
        Report report;
        ssize_t const got = ::recv(control_.native_handle(), &report, sizeof report, MSG_DONTWAIT);
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        if (got == sizeof report) on_report(report);
        return got != 0;
    }

    void read(Stream& stream) {
        stream.async_wait(Stream::wait_read, [self = shared_from_this(), &stream](auto const& e) {
            if (!e && !self->over_ && self->take(stream)) self->read(stream);
        });
    }

    // Reads what is available. False: nothing more will come.
    bool take(Stream& stream) {
        std::array<char, 65'536> buffer;
        // Bounded, so that a program that writes without end does not block the loop.
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
        ask(Request::kill);
        return false;
    }

    void write() {
        if (to_write_.empty()) {
            if (!spec_.on_output) close(input_);
            return;
        }
        input_.async_wait(Stream::wait_write, [self = shared_from_this()](auto const& error) {
            if (!error && !self->over_) self->write_some();
        });
    }

    void write_some() {
        if (to_write_.empty()) return;
        std::string_view const rest = to_write_.rest();
        ssize_t const put = ::write(input_.native_handle(), rest.data(), rest.size());
        if (put < 0 && errno != EAGAIN && errno != EINTR) {  // the program does not read it
            forget_input();
            return close(input_);
        }
        if (put > 0) to_write_.take(static_cast<std::size_t>(put));
        write();
    }

    void forget_input() { to_write_.clear(); }

    void on_time() {
        if (!forced_) forced_ = ProcessEnd::How::timed_out;
        terminate();
    }

    void ask(Request what) {
        if (control_.is_open())
            (void)::send(control_.native_handle(), &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    // The guard reports that the program ended. Its output is in the pipes already, even if other
    // processes still hold them.
    void on_report(Report const& report) {
        if (std::exchange(reported_, true)) return;
        if (report.kind == Report::Kind::not_started) {
            end_ = not_started(report.code);
            return;
        }
        for (Stream* stream : {&output_, &error_, &side_}) (void)take(*stream);
        bool const exited = report.code == CLD_EXITED;
        end_.how = forced_.value_or(exited ? ProcessEnd::How::exited : ProcessEnd::How::signalled);
        end_.status = report.status;
        if (end_.error.size() > spec_.error_kept)
            end_.error.erase(0, end_.error.size() - spec_.error_kept);
        over_ = true;
        bool const leaves = !silent_ && end_.how == ProcessEnd::How::exited &&
                            spec_.may_leave_behind && spec_.may_leave_behind(end_);
        ask(leaves ? Request::leave : Request::kill);
        // A process that cannot be killed (another user's, or stuck in the kernel) delays no
        // report.
        timer_.expires_after(ProcessHost::grace);
        timer_.async_wait([self = shared_from_this()](auto const& error) {
            if (!error) self->report();
        });
    }

    // The guard has ended: everything is gone.
    void on_exit() {
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG);
        if (info.si_pid == 0)
            return wait_for_exit();  // Asio may wake up for a descriptor that was
                                     // closed
        while (!reported_ && control_.is_open() && take_report()) {}
        if (!reported_) on_report({Report::Kind::ended, info.si_code, info.si_status});
        over_ = true;
        reap();
        report();
        close_all();
    }

    void report() {
        if (auto done = std::exchange(done_, {})) done(std::move(end_));
    }

    void reap() {
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
        reaped_ = true;
    }

    void close_all() {
        timer_.cancel();
        for (Stream* stream : {&exit_, &control_, &input_, &output_, &error_, &side_})
            close(*stream);
    }

    static void close(Stream& stream) {
        boost::system::error_code ignored;
        if (stream.is_open()) stream.close(ignored);
    }

    ProcessSpec const spec_;
    pid_t const pid_;  // of its guard, as are exit_ and control_
    Stream exit_;
    Stream control_;
    Stream input_, output_, error_, side_;
    asio::steady_timer timer_;
    Done done_;
    ProcessEnd end_;
    std::optional<ProcessEnd::How> forced_;  // why the host ended it
    Unwritten to_write_;
    std::size_t error_total_ = 0;
    bool terminating_ = false;
    bool silent_ = false;
    bool reported_ = false;  // its end was reported
    bool over_ = false;      // the program ended; what it left may still run
    bool reaped_ = false;
};

ProcessHost::~ProcessHost() {
    for (auto const& [number, child] : children_) child->end_now();
    for (auto const& [number, child] : children_) child->wait_for_end();
}

std::size_t ProcessHost::sharing(std::string const& share) const {
    return static_cast<std::size_t>(std::ranges::count_if(children_, [&](auto const& entry) {
        std::string const& its = entry.second->share();
        return share.empty() ? !its.empty() : its == share;
    }));
}

bool ProcessHost::has_capacity(std::string const& share) const {
    if (children_.size() >= limits_.running) return false;
    return share.empty() || (sharing({}) < limits_.shared && sharing(share) < limits_.share);
}

// Asks an idle program to give way. False: none can. A program without a share never waits.
bool ProcessHost::frees_capacity(std::string const& share) {
    if (share.empty()) return false;
    bool const own = sharing(share) >= limits_.share;  // then only a program of this share helps
    auto const found = std::ranges::find_if(resting_, [&](Resting const& resting) {
        auto const child = children_.find(resting.process);
        return child != children_.end() && (!own || child->second->share() == share);
    });
    if (found == resting_.end()) return false;
    loop_.post([give_way = std::move(found->give_way)]() mutable { give_way(); });
    resting_.erase(found);
    return true;
}

port::Processes::Number ProcessHost::start(ProcessSpec spec, Done done) {
    Number const number = ++last_;
    if (has_capacity(spec.share)) {
        launch(number, std::move(spec), std::move(done));
    } else if (!frees_capacity(spec.share)) {
        refuse(EAGAIN, std::move(done));
    } else {
        waiting_.push_back({number, std::move(spec), std::move(done)});
        loop_.after(wait_limit, scope_.guard([this, number] { give_up_waiting(number, true); }));
    }
    return number;
}

void ProcessHost::launch(Number number, ProcessSpec spec, Done done) {
    Spawned spawned = spawn(spec);
    if (spawned.error_number != 0) return refuse(spawned.error_number, std::move(done));
    auto child = std::make_shared<Child>(context_of(loop_), std::move(spec), std::move(spawned));
    children_.emplace(number, child);
    child->watch([this, number, done = std::move(done)](ProcessEnd end) mutable {
        gone(number, std::move(done), std::move(end));
    });
}

void ProcessHost::refuse(int error_number, Done done) {
    loop_.post([end = not_started(error_number), done = std::move(done)]() mutable {
        done(std::move(end));
    });
}

void ProcessHost::gone(Number number, Done done, ProcessEnd end) {
    auto const ended = children_.extract(number);
    work(number);
    take_waiting();
    if (!ended.mapped()->silent()) done(std::move(end));
}

void ProcessHost::take_waiting() {
    auto const next = std::ranges::find_if(
        waiting_, [this](Waiting const& waiting) { return has_capacity(waiting.spec.share); });
    if (next == waiting_.end()) return;
    Waiting taken = std::move(*next);
    waiting_.erase(next);
    bool const may = !taken.spec.may_start || taken.spec.may_start();
    if (may) return launch(taken.number, std::move(taken.spec), std::move(taken.done));
    refuse(EAGAIN, std::move(taken.done));
    take_waiting();
}

void ProcessHost::give_up_waiting(Number number, bool reports) {
    auto const found = std::ranges::find(waiting_, number, &Waiting::number);
    if (found == waiting_.end()) return;
    if (reports) refuse(EAGAIN, std::move(found->done));
    waiting_.erase(found);
}

void ProcessHost::rest(Number process, port::Fn<void()> give_way) {
    work(process);
    resting_.push_back({process, std::move(give_way)});
}

void ProcessHost::work(Number process) {
    std::erase_if(resting_, [&](Resting const& one) { return one.process == process; });
}

void ProcessHost::write(Number process, std::string_view bytes) {
    if (auto const found = children_.find(process); found != children_.end())
        return found->second->write_input(bytes);
    auto const waits = std::ranges::find(waiting_, process, &Waiting::number);
    if (waits != waiting_.end()) waits->spec.input += bytes;
}

void ProcessHost::end(Number process) {
    if (auto const found = children_.find(process); found != children_.end())
        return found->second->ask_to_end();
    give_up_waiting(process, true);
}

void ProcessHost::kill(Number process) {
    if (auto const found = children_.find(process); found != children_.end())
        return found->second->terminate();
    give_up_waiting(process, true);
}

void ProcessHost::stop(Number process) {
    if (auto const found = children_.find(process); found != children_.end())
        return found->second->forget_outcome();
    give_up_waiting(process, false);
}

}  // namespace dormouse::io
