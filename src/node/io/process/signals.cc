#include "io/process/signals.h"

#include "io/asio.h"

#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <utility>

namespace dormouse::io {

struct Signals::Impl : std::enable_shared_from_this<Signals::Impl> {
    Impl(AsioLoop& loop, port::Fn<void(int)> on_signal_, port::Fn<void()> on_hangup_)
        : set(context_of(loop), SIGTERM, SIGINT),
          on_signal(std::move(on_signal_)),
          on_hangup(std::move(on_hangup_)) {
        boost::system::error_code ignored;
        if (on_hangup) set.add(SIGHUP, ignored);
    }

    void wait() {
        set.async_wait([self = shared_from_this()](auto const& error, int number) {
            if (error || !self->on_signal) return;
            if (number == SIGHUP) {
                self->on_hangup();
            } else {
                self->on_signal(number);
            }
            self->wait();
        });
    }

    boost::asio::signal_set set;
    port::Fn<void(int)> on_signal;
    port::Fn<void()> on_hangup;
};

Signals::Signals(AsioLoop& loop, port::Fn<void(int)> on_signal, port::Fn<void()> on_hangup)
    : impl_(std::make_shared<Impl>(loop, std::move(on_signal), std::move(on_hangup))) {
    impl_->wait();
}

Signals::~Signals() {
    boost::system::error_code ignored;
    impl_->on_signal = nullptr;
    impl_->set.clear(ignored);
    impl_->set.cancel(ignored);
}

void ignore_sigpipe() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace dormouse::io
