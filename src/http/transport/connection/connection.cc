#include "http/transport/connection/connection.h"

#include "base/trace.h"
#include "http/transport/responder.h"

#include <new>
#include <utility>

namespace dormouse::http {

namespace {

using boost::system::error_code;
using Do = ConnectionAction;

constexpr std::size_t written_max = 64 * 1024;  // written bytes that the buffer may still hold
constexpr Duration linger_limit{2'000};

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
    happen(Event::open);
}

void Connection::refuse(HttpReply const& reply) {
    enter_hub();
    if (hub_->options.tls) return close();  // it would need a TLS handshake first
    on(Event::end_after_reply);
    put_reply(reply);
    settle();
}

void Connection::close() { on(Event::close); }
void Connection::finish() { happen(Event::finish); }

void Connection::sweep(Duration now) {
    if (now >= deadline_) happen(Event::time_limit);
}

// --- Steps -----------------------------------------------------------------------------------

void Connection::on(Event event, Moved const& moved) {
    ConnectionStep const out = step(state_, event, bytes());
    state_ = out.next;
    for (Do const action : out.actions) perform(action, moved);
}

void Connection::perform(ConnectionAction action, Moved const& moved) {
    std::string_view const fresh(hub_->scratch.data(), moved.bytes);
    switch (action) {
        case Do::start_deadline: return start_deadline();
        case Do::wait_input: return wait_input(moved);
        case Do::wait_output: return wait_output(moved);
        case Do::read_input: return read_input();
        case Do::take_requests: return take_requests(fresh);
        case Do::take_later:
            return hub_->loop.post([self = shared_from_this()] { self->happen(Event::resume); });
        case Do::keep_input: in_.append(fresh); return;
        case Do::discard_input: return discard_input(moved.bytes);
        case Do::drop_input:
            in_ = {};
            parser_.reset();
            return;
        case Do::read_source: return read_source();
        case Do::drop_source: source_.reset(); return;
        case Do::reply_timeout:
            return reject({Code::request_timeout, "The request took too long to arrive.", {}, 0});
        case Do::reply_overloaded:
            return reject(
                {Code::overloaded,
                 "The server holds as many unfinished requests and unread answers as it can.",
                 {},
                 1'000});
        case Do::write: return write();
        case Do::write_soon: return write_soon();
        case Do::notify_drained: return notify_drained();
        case Do::send_heartbeat: send(hub_->heartbeat); return;
        case Do::shut_output: return shut_output();
        case Do::release: return release();
    }
}

void Connection::happen(Event event) {
    on(event);
    settle();
}

void Connection::settle() {
    if (state_.taking) return;  // take_requests() does this at its end
    charge();
    on(Event::settle);
}

ConnectionBytes Connection::bytes() const {
    return {in_.size(), out_.size() - out_sent_, body_left_};
}

void Connection::start_deadline() {
    using enum ConnectionState::Limit;
    auto const after = [this](Duration limit) { deadline_ = hub_->clock.monotonic() + limit; };
    switch (state_.limit()) {
        case none: deadline_ = Duration::max(); return;
        case header: return after(hub_->options.header_time_limit);
        case body: return after(hub_->options.body_time_limit);
        case idle: return after(hub_->options.idle_time_limit);
        case linger: return after(linger_limit);
        case heartbeat: return after(hub_->options.heartbeat);
    }
}

void Connection::release() {
    auto const self = shared_from_this();
    error_code ignored;
    socket_.close(ignored);
    hub_->remove(slot_);
    parser_.reset();
    in_ = {};
    out_ = {};
    out_sent_ = 0;
    source_.reset();
    charge();
    hub_->by_address.leave(network_);
    if (auto const stream = std::exchange(stream_, nullptr)) {
        --hub_->streams;
        if (stream->closed) hub_->loop.post(std::move(stream->closed));
    }
}

// --- Requests --------------------------------------------------------------------------------

// Takes as many requests from the input as can be answered now, and writes all replies at once.
void Connection::take_requests(std::string_view fresh) {
    // A copy, because a handler may close this connection, which empties in_.
    std::string kept = std::exchange(in_, {});
    std::string_view input = fresh;
    if (!kept.empty()) input = kept.append(fresh);
    while (!input.empty() && may_take()) {
        auto const taken = take(input);
        if (taken == 0) break;
        input.remove_prefix(taken);
    }
    if (state_.keeps_input()) in_ = input;
    bool const full = state_.takes_requests() && !in_.empty() && !bytes().has_room();
    on(full ? Event::output_full : Event::taken);
}

bool Connection::may_take() {
    if (state_.takes_requests() && !bytes().has_room()) on(Event::flush);  // may free space
    return state_.takes_requests() && bytes().has_room();
}

std::size_t Connection::take(std::string_view input) {
    if (!parser_) {
        parser_.emplace(hub_->options.header_bytes_max);
        on(Event::begin);
    }
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

// Checks the complete head. Returns false if the request has been answered; the rest of it is not
// read then.
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
    head_only_ = parser_->head_only();
    http_1_0_ = parser_->http_1_0();
    if (!parser_->keep_alive()) on(Event::end_after_reply);
    if (auto const reply = hub_->handler.refuse(request)) {
        if (has_body) on(Event::end_after_reply);
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
    on(Event::admit);
    if (parser_->expects_continue()) out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    return true;
}

void Connection::dispatch() {
    trace();
    handled_bytes_ = parser_->buffered_bytes();
    HttpRequest request = std::move(parser_->request());
    parser_.reset();
    on(Event::handle);
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

// --- Replies ---------------------------------------------------------------------------------

bool Connection::waits_for(std::uint64_t number) const {
    return state_.phase == Phase::handling && number_ == number;
}

void Connection::answer(std::uint64_t number, HttpReply const& reply) {
    if (!waits_for(number)) return;
    put_reply(reply);
    settle();
}

void Connection::free_body(std::uint64_t number) {
    if (!waits_for(number)) return;
    handled_bytes_ = 0;
    charge();
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
    on(Event::end_after_reply);
    HttpRequest head;
    bool const has_head = parser_->stage() != RequestParser::Stage::head;
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
    if (hub_->draining) on(Event::end_after_reply);
    // Drops written bytes, so that a client that is always a little behind does not make the buffer
    // grow.
    if (out_sent_ > written_max) out_.erase(0, std::exchange(out_sent_, 0));
    append_reply(out_, reply, {head_only_, state_.last, http_1_0_, hub_->date});
    bool const from_source = reply.source && !head_only_ && reply.source->size() > 0;
    head_only_ = false;
    if (from_source) {
        source_ = reply.source;
        body_left_ = source_->size();
    }
    on(Event::reply);
}

void Connection::read_source() {
    source_->read([self = shared_from_this()](Result<std::string> piece) {
        self->take_piece(std::move(piece));
    });
}

void Connection::take_piece(Result<std::string> piece) {
    if (state_.phase != Phase::pulling) return;  // closed meanwhile
    if (!piece || piece->empty() || piece->size() > body_left_) {
        hub_->log.warn(
            "a reply could not be read to its end",
            {{"peer", peer_}, {"why", piece ? "bytes are missing" : piece.error().detail}});
        return happen(Event::broken);
    }
    body_left_ -= piece->size();
    out_ = std::move(*piece);
    on(Event::piece);
    happen(Event::resume);
}

}  // namespace dormouse::http
