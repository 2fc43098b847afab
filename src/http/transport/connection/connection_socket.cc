// Reads and writes the socket of a connection, through TLS if it is used.

#include "http/transport/connection/connection.h"

#include <utility>

namespace dormouse::http {

namespace {

using boost::system::error_code;
namespace error = boost::asio::error;
using TlsState = io::TlsStream::State;

constexpr std::size_t discard_max = 1024 * 1024;  // discarded bytes before the connection closes

TlsState state_of(error_code const& code, TlsState blocked) {
    if (!code) return TlsState::moved;
    bool const again =
        code == error::would_block || code == error::try_again || code == error::interrupted;
    if (again) return blocked;
    return code == error::eof ? TlsState::ended : TlsState::failed;
}

}  // namespace

Connection::Moved Connection::read_some() {
    auto& scratch = hub_->scratch;
    if (tls_) return tls_->read(scratch);
    error_code code;
    auto const count = socket_.read_some(boost::asio::buffer(scratch), code);
    return {state_of(code, TlsState::wait_read), count};
}

Connection::Moved Connection::write_some(std::span<boost::asio::const_buffer const> buffers) {
    if (tls_) {
        auto const& first = buffers.front();
        return tls_->write({static_cast<char const*>(first.data()), first.size()});
    }
    error_code code;
    auto const count = socket_.write_some(buffers, code);
    return {state_of(code, TlsState::wait_write), count};
}

// TLS may have to write before it can read, and the reverse.
void Connection::wait_input(Moved const& moved) {
    auto const again = [self = shared_from_this()] { self->happen(Event::readable); };
    bool const blocked = moved.state == TlsState::wait_read || moved.state == TlsState::wait_write;
    if (tls_ && !blocked && tls_->holds()) return hub_->loop.post(again);
    auto const what = moved.state == TlsState::wait_write ? Socket::wait_write : Socket::wait_read;
    socket_.async_wait(what, [again](error_code const&) { again(); });
}

void Connection::wait_output(Moved const& moved) {
    auto const what = moved.state == TlsState::wait_read ? Socket::wait_read : Socket::wait_write;
    socket_.async_wait(what, [self = shared_from_this()](error_code const&) {
        self->on(Event::writable);
        self->happen(Event::resume);
    });
}

void Connection::read_input() {
    auto const moved = read_some();
    switch (moved.state) {
        case TlsState::moved: return on(Event::input, moved);
        case TlsState::wait_read:
        case TlsState::wait_write: return on(Event::input_blocked, moved);
        case TlsState::ended: return on(Event::input_ended);
        case TlsState::failed: return on(Event::broken);
    }
}

void Connection::discard_input(std::size_t bytes) {
    discarded_ += bytes;
    if (discarded_ > discard_max) close();
}

void Connection::write() {
    bool const stream = state_.phase == Phase::streaming || state_.phase == Phase::stopping;
    if (stream) return write_stream();
    while (out_sent_ < out_.size()) {
        boost::asio::const_buffer const rest = boost::asio::buffer(out_) + out_sent_;
        auto const moved = write_some({&rest, 1});
        out_sent_ += moved.bytes;
        if (moved.state != TlsState::moved) return write_stopped(moved);
    }
    out_ = {};
    out_sent_ = 0;
    on(Event::written);
}

void Connection::write_stream() {
    FrameQueue& queue = stream_->queue;
    stream_->flush_due = false;
    if (queue.empty() && streams()) return;
    while (!queue.empty()) {
        auto const moved = write_some(queue.front());
        queue.pop(moved.bytes);
        if (moved.state != TlsState::moved) return write_stopped(moved);
    }
    on(Event::written);
}

void Connection::write_stopped(Moved const& moved) {
    bool const blocked = moved.state == TlsState::wait_read || moved.state == TlsState::wait_write;
    on(blocked ? Event::output_blocked : Event::broken, moved);
}

void Connection::shut_output() {
    error_code ignored;
    if (tls_) tls_->end();
    socket_.shutdown(Socket::shutdown_send, ignored);
}

}  // namespace dormouse::http
