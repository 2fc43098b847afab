#include "io/signals.h"

#include "io/asio.h"

#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <utility>

namespace dormouse::io {

struct Signals::Impl : std::enable_shared_from_this<Signals::Impl> {
    Impl(AsioLoop& loop, port::Fn<void(int)> on_signal_)
        : set(context_of(loop), SIGTERM, SIGINT), on_signal(std::move(on_signal_)) {}

    void wait() {
        set.async_wait([self = shared_from_this()](auto const& error, int number) {
            if (error || !self->on_signal) return;
            self->on_signal(number);
            self->wait();
        });
    }

    boost::asio::signal_set set;
    port::Fn<void(int)> on_signal;
};

Signals::Signals(AsioLoop& loop, port::Fn<void(int)> on_signal)
    : impl_(std::make_shared<Impl>(loop, std::move(on_signal))) {
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
