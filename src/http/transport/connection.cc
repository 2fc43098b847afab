#include "http/transport/connection.h"

#include "base/trace.h"
#include "http/transport/responder.h"

#include <new>
#include <utility>

namespace dormouse::server {

namespace {

using boost::system::error_code;
namespace error = boost::asio::error;

constexpr std::size_t read_ahead_max =
    64 * 1024;  // pipelined bytes held while a request is handled
constexpr std::size_t unwritten_max =
    256 * 1024;  // replies held before further requests have to wait
constexpr std::size_t discard_max = 1024 * 1024;  // bytes that nobody reads, before we hang up
constexpr Duration linger_limit{2'000};

bool try_again(error_code const& code) {
    return code == error::would_block || code == error::try_again || code == error::interrupted;
}

}  // namespace

Connection::Connection(std::shared_ptr<Hub> hub, Socket socket, std::string network)
    : hub_(std::move(hub)), socket_(std::move(socket)), network_(std::move(network)) {}

void Connection::enter_hub() {
    slot_ = hub_->connections.size();
    hub_->connections.push_back(shared_from_this());
    error_code ignored;
    socket_.non_blocking(true, ignored);
    auto const peer = socket_.remote_endpoint(ignored).address();
    auto const mapped = peer.is_v6() && peer.to_v6().is_v4_mapped();
    auto const address =
        mapped ? boost::asio::ip::address(make_address_v4(boost::asio::ip::v4_mapped, peer.to_v6()))
               : peer;
    peer_ = address.to_string();
    peer_is_loopback_ = address.is_loopback();
    if (hub_->options.tls) tls_ = hub_->options.tls->accept(socket_.native_handle());
}

void Connection::start() {
    enter_hub();
    if (hub_->options.tls && !tls_) return close();
    set_deadline(hub_->options.header_time_limit);
    arm_read();
}

void Connection::refuse(HttpReply const& reply) {
    enter_hub();
    if (hub_->options.tls) return close();  // it would have to shake hands first
    set_deadline(linger_limit);
    keep_alive_ = false;
    put_reply(reply);
    settle();
}

void Connection::close() {
    if (stage_ == Stage::closed) return;
    auto const self = shared_from_this();
    stage_ = Stage::closed;
    error_code ignored;
    socket_.close(ignored);
    hub_->remove(slot_);
    parser_.reset();
    in_ = {};
    out_ = {};
    source_.reset();
    charge();
    hub_->by_address.leave(network_);
    if (auto const stream = std::exchange(stream_, nullptr)) {
        --hub_->streams;
        if (stream->closed) hub_->loop.post(std::move(stream->closed));
    }
}

void Connection::finish() {
    keep_alive_ = false;
    if (stage_ == Stage::streaming) end_stream();
    if (stage_ == Stage::reading && !parser_ && out_.empty()) close();
}

// --- Bytes -----------------------------------------------------------------------------------

std::size_t Connection::tls_result(io::TlsStream::Moved moved, bool reading, error_code& code) {
    using State = io::TlsStream::State;
    read_when_writable_ = reading && moved.state == State::wait_write;
    write_when_readable_ = !reading && moved.state == State::wait_read;
    switch (moved.state) {
        case State::moved: return moved.bytes;
        case State::wait_read:
        case State::wait_write: code = error::would_block; break;
        case State::ended: code = error::eof; break;
        case State::failed: code = error::connection_reset; break;
    }
    return 0;
}

std::size_t Connection::read_some(error_code& code) {
    auto& scratch = hub_->scratch;
    if (!tls_) return socket_.read_some(boost::asio::buffer(scratch), code);
    return tls_result(tls_->read(scratch), true, code);
}

template <class Buffers>
std::size_t Connection::write_some(Buffers const& buffers, error_code& code) {
    if (!tls_) return socket_.write_some(buffers, code);
    auto const first = *boost::asio::buffer_sequence_begin(buffers);
    std::string_view const bytes(static_cast<char const*>(first.data()), first.size());
    return tls_result(tls_->write(bytes), false, code);
}

// Used by connection_stream.cc too.
template std::size_t Connection::write_some(std::vector<boost::asio::const_buffer> const& buffers,
                                            error_code& code);

// --- Reading ---------------------------------------------------------------------------------

void Connection::arm_read() {
    bool const full =
        answering() ? in_.size() >= read_ahead_max : stage_ == Stage::reading && !can_work();
    if (reading_ || saw_end_ || full || stage_ == Stage::closed) return;
    reading_ = true;
    if (tls_ && tls_->holds()) {
        return hub_->loop.post([self = shared_from_this()] {
            self->reading_ = false;
            self->on_readable();
        });
    }
    auto const what = read_when_writable_ ? Socket::wait_write : Socket::wait_read;
    socket_.async_wait(what, [self = shared_from_this()](error_code const&) {
        self->reading_ = false;
        self->on_readable();
    });
}

void Connection::on_readable() {
    if (stage_ == Stage::closed) return;
    error_code code;
    auto const& scratch = hub_->scratch;
    auto const count = read_some(code);
    if (try_again(code)) return arm_read();
    if (code == error::eof) return on_end();
    if (code) return close();
    if (stage_ == Stage::reading) return work({scratch.data(), count});
    if (!answering()) return discard(count);
    in_.append(scratch.data(), count);
    charge();
    arm_read();
}

// A client may close its sending side and still wait for the answers to what it has sent; one that
// waits for more than that (a stream) has gone.
void Connection::on_end() {
    saw_end_ = true;
    if (stage_ == Stage::streaming || stage_ == Stage::lingering) return close();
    if (stage_ == Stage::reading) work({});
}

void Connection::discard(std::size_t bytes) {
    discarded_ += bytes;
    if (discarded_ > discard_max) return close();
    arm_read();
}

bool Connection::can_work() const {
    return stage_ == Stage::reading && out_.size() - out_sent_ < unwritten_max;
}

// Takes as many requests out of what has come as can be answered now, and writes all answers at
// once.
void Connection::work(std::string_view fresh) {
    // Apart from in_, because a handler may close this connection, which empties it.
    std::string held = std::exchange(in_, {});
    std::string_view input = fresh;
    if (!held.empty()) input = held.append(fresh);
    working_ = true;
    while (!input.empty() && stage_ == Stage::reading) {
        if (!can_work()) flush();  // may make room
        if (!can_work()) break;
        auto const taken = step(input);
        if (taken == 0) break;
        input.remove_prefix(taken);
    }
    working_ = false;
    if (stage_ == Stage::reading || answering()) in_ = input;
    settle();
}

// After anything that may have changed what to write, and what to wait for.
void Connection::settle() {
    flush();
    if (stage_ == Stage::reading) {
        if (saw_end_ && can_work()) {
            stage_ = Stage::ending;
            return flush();
        }
        if (!parser_) {
            begun_ = false;
            set_deadline(hub_->options.idle_time_limit);
        } else if (!std::exchange(begun_, true)) {
            set_deadline(hub_->options.header_time_limit);
        }
    }
    charge();
    arm_read();
}

std::size_t Connection::step(std::string_view input) {
    if (!parser_) parser_.emplace(hub_->options.header_bytes_max);
    bool const had_head = parser_->stage() != RequestParser::Stage::head;
    auto const taken = parser_->feed(input);
    if (!taken) {
        reject(taken.error());
        return input.size();
    }
    if (parser_->stage() == RequestParser::Stage::head) return *taken;
    if (!had_head && !admit()) return *taken;
    if (parser_->stage() == RequestParser::Stage::complete) dispatch();
    return *taken;
}

// The head has come. False: the request was answered already, and what is left of it will not be
// read.
bool Connection::admit() {
    auto& request = parser_->request();
    bool const has_body = parser_->stage() == RequestParser::Stage::body;
    request.id = hub_->next_request_id();
    request.peer_address = peer_;
    request.peer_is_loopback = peer_is_loopback_;
    request.secure = tls_ != nullptr;
    request.head_only = parser_->head_only();
    bool const proxied = hub_->proxies.apply(request);
    if (hub_->options.only_proxied && !proxied && !peer_is_loopback_) {
        reject({Code::forbidden, "This server takes requests through its proxy only.", {}, 0});
        return false;
    }
    keep_alive_ = parser_->keep_alive();
    head_only_ = parser_->head_only();
    http_1_0_ = parser_->http_1_0();
    if (auto const reply = hub_->handler.refuse(request)) {
        if (has_body) keep_alive_ = false;
        put_reply(*reply);
        return false;
    }
    known_ = hub_->handler.knows(request);
    if (!has_body) return true;
    auto const limit = hub_->handler.body_limit(request.method, request.path);
    if (auto const fits = parser_->limit_body(limit); !fits) {
        reject(fits.error());
        return false;
    }
    begun_ = true;
    set_deadline(hub_->options.body_time_limit);
    if (parser_->expects_continue()) out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    return true;
}

void Connection::dispatch() {
    trace();
    handled_bytes_ = parser_->held_bytes();
    HttpRequest request = std::move(parser_->request());
    parser_.reset();
    stage_ = Stage::handling;
    no_deadline();
    auto const responder = make_responder(shared_from_this(), ++number_, request.id);
    HttpRequest head;
    head.id = request.id;
    try {
        hub_->handler.handle(std::move(request), responder);
    } catch (std::bad_alloc const&) {
        Error const error{Code::overloaded, "There is not enough memory for this now.", {}, 1'000};
        answer(number_, hub_->handler.problem(error, head));
    }
}

// --- Answering -------------------------------------------------------------------------------

bool Connection::waits_for(std::uint64_t number) const {
    return stage_ == Stage::handling && number_ == number;
}

void Connection::answer(std::uint64_t number, HttpReply const& reply) {
    if (!waits_for(number)) return;
    put_reply(reply);
    if (working_) return;
    if (in_.empty()) return settle();
    // The next request has come already. It does not begin inside the handler's call of reply().
    hub_->loop.post([self = shared_from_this()] {
        if (self->stage_ != Stage::closed) self->work({});
    });
}

void Connection::answer_nothing(std::uint64_t number, std::string id) {
    if (!waits_for(number)) return;
    HttpRequest head;
    head.id = std::move(id);
    hub_->log.error("a request was not answered by its handler", {{"request", head.id}});
    Error const unanswered{Code::internal, "the request was not answered", {}, 0};
    answer(number, hub_->handler.problem(unanswered, head));
}

void Connection::reject(Error const& error) {
    keep_alive_ = false;
    HttpRequest head;
    bool const has_head = parser_ && parser_->stage() != RequestParser::Stage::head;
    if (has_head) head = std::move(parser_->request());
    if (head.id.empty()) head.id = hub_->next_request_id();
    if (head.peer_address.empty()) head.peer_address = peer_;
    auto const reply = hub_->handler.problem(error, head);
    hub_->log.debug("request refused",
                    {{"request", head.id}, {"peer", peer_}, {"why", error.detail}});
    put_reply(reply);
}

void Connection::put_reply(HttpReply const& reply) {
    parser_.reset();
    handled_bytes_ = 0;
    if (hub_->draining) keep_alive_ = false;
    // What was written goes, so that a client that is always a little behind holds no more for it.
    if (out_sent_ > read_ahead_max) out_.erase(0, std::exchange(out_sent_, 0));
    append_reply(out_, reply, {head_only_, !keep_alive_, http_1_0_, hub_->date});
    bool const from_source = reply.source && !head_only_ && reply.source->size() > 0;
    head_only_ = false;
    if (!from_source) return end_reply();
    source_ = reply.source;
    left_ = source_->size();
    stage_ = Stage::sending;
    set_deadline(hub_->options.body_time_limit);
}

void Connection::end_reply() {
    stage_ = keep_alive_ ? Stage::reading : Stage::ending;
    if (!keep_alive_) set_deadline(hub_->options.body_time_limit);
}

// The next piece of the body, when what came before it has been written.
void Connection::pull() {
    if (std::exchange(pulling_, true)) return;
    source_->read([self = shared_from_this()](Result<std::string> piece) {
        self->pulling_ = false;
        if (self->stage_ == Stage::sending) self->take_piece(std::move(piece));
    });
}

void Connection::take_piece(Result<std::string> piece) {
    if (!piece || piece->empty() || piece->size() > left_) {
        hub_->log.warn(
            "a reply could not be read to its end",
            {{"peer", peer_}, {"why", piece ? "bytes are missing" : piece.error().detail}});
        return close();
    }
    left_ -= piece->size();
    out_ = std::move(*piece);
    set_deadline(hub_->options.body_time_limit);
    flush();
    charge();
    if (stage_ == Stage::reading) work({});
}

// --- Writing ---------------------------------------------------------------------------------

void Connection::flush() {
    if (stage_ == Stage::streaming) return flush_stream();
    if (writing_ || stage_ == Stage::closed) return;
    while (out_sent_ < out_.size()) {
        error_code code;
        boost::asio::const_buffer const rest = boost::asio::buffer(out_) + out_sent_;
        out_sent_ += write_some(rest, code);
        if (try_again(code)) return arm_write();
        if (code) return close();
    }
    out_ = {};
    out_sent_ = 0;
    if (stage_ == Stage::sending) {
        if (left_ > 0) return pull();
        source_.reset();
        end_reply();
    }
    if (stage_ == Stage::ending) linger();
}

void Connection::arm_write() {
    if (writing_) return;
    writing_ = true;
    auto const what = write_when_readable_ ? Socket::wait_read : Socket::wait_write;
    socket_.async_wait(what, [self = shared_from_this()](error_code const&) {
        self->writing_ = false;
        self->on_writable();
    });
}

void Connection::on_writable() {
    if (stage_ == Stage::closed) return;
    bool const goes_on = stage_ == Stage::ending || stage_ == Stage::sending;
    if (goes_on) set_deadline(hub_->options.body_time_limit);
    flush();
    charge();
    if (stage_ == Stage::reading) work({});
}

void Connection::linger() {
    if (saw_end_) return close();
    stage_ = Stage::lingering;
    error_code ignored;
    if (tls_) tls_->end();
    socket_.shutdown(Socket::shutdown_send, ignored);
    set_deadline(linger_limit);
    arm_read();
}

// --- Time ------------------------------------------------------------------------------------

void Connection::sweep(Duration now) {
    if (stage_ == Stage::streaming) return beat(now);
    if (now >= deadline_) run_out_of_time();
}

void Connection::run_out_of_time() {
    if (stage_ != Stage::reading || !parser_ || !out_.empty()) return close();
    hub_->log.debug("request took too long to arrive", {{"peer", peer_}});
    keep_alive_ = false;
    HttpRequest unknown;
    unknown.id = hub_->next_request_id();
    put_reply(hub_->handler.problem(
        {Code::request_timeout, "The request took too long to arrive.", {}, 0}, unknown));
    settle();
}

}  // namespace dormouse::server
