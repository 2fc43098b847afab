#include "http/transport/transport.h"

#include "http/transport/connection/connection.h"
#include "http/transport/response.h"
#include "io/asio.h"
#include "io/process/fd_limit.h"

#include <boost/asio/ip/v6_only.hpp>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace dormouse::http {

namespace {

using boost::system::error_code;
using Acceptor = boost::asio::basic_socket_acceptor<Tcp, Executor>;

constexpr int backlog = 4096;
constexpr Duration accept_pause{100};
constexpr int turned_away_max = 64;        // at once, when file descriptors run out
constexpr std::size_t fds_kept_free = 64;  // for the store, the log, pipes and tools
constexpr std::size_t refusals_max = 32;   // connections over the limit that get a 503
static_assert(refusals_max < fds_kept_free);
// A peer that acknowledges nothing for this long counts as dead (RFC 5482).
constexpr unsigned unacknowledged_max_ms = 60'000;

std::size_t connection_limit(HttpOptions const& options) {
    auto const files = io::fd_limit();
    auto const usable = files > 2 * fds_kept_free ? files - fds_kept_free : files / 2;
    return std::min(options.connections_max, usable);
}

Result<boost::asio::ip::address> parse_address(std::string const& text) {
    if (text == "localhost") return boost::asio::ip::address_v4::loopback();
    auto const bare =
        text.starts_with('[') && text.ends_with(']') ? text.substr(1, text.size() - 2) : text;
    error_code code;
    auto address = boost::asio::ip::make_address(bare, code);
    if (!code) return address;
    return fail(Code::bad_value, "\"" + text +
                                     "\" is not an address to listen on: write an IP address, for "
                                     "example 127.0.0.1 or ::1");
}

std::string shown(Tcp::endpoint const& endpoint) {
    auto const address = endpoint.address().to_string();
    auto const port = std::to_string(endpoint.port());
    return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

// bad_value: no later attempt succeeds. A port may become free, and an address may come later.
Error why_not(Tcp::endpoint const& endpoint, error_code const& code) {
    auto const where = "cannot listen on " + shown(endpoint) + ": ";
    if (code == boost::asio::error::address_in_use)
        return {Code::wrong_state,
                where + "another program uses this port; stop it, or choose another port"};
    if (code == boost::asio::error::access_denied)
        return {Code::bad_value,
                where + "the system does not allow this port; choose one above 1023"};
    if (code.value() == EADDRNOTAVAIL)
        return {Code::internal, where + "this machine has no such address"};
    return {Code::internal, where + code.message()};
}

bool out_of_files(error_code const& code) {
    return code.value() == EMFILE || code.value() == ENFILE;
}

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
    Impl(io::AsioLoop& loop_, port::Clock const& clock, HttpOptions options, HttpHandler& handler,
         io::Log& log)
        : loop(loop_),
          hub(std::make_shared<Hub>(std::move(options), handler, log, loop_, clock)),
          acceptor(io::context_of(loop_)) {}
    ~Impl() { drop_spare(); }

    Result<std::uint16_t> listen(int listener);
    error_code open(Tcp::endpoint const& endpoint, int listener);
    void set_options();
    void accept();
    void on_accepted(error_code const& code, Socket socket);
    void take(Socket socket);
    [[nodiscard]] std::string counted_as(Socket const& socket) const;
    void accept_later();
    void accept_again();
    void after(Duration delay, void (Impl::*work)());
    void turn_away();
    void stop_accepting();
    void sweep();
    void close_all();
    [[nodiscard]] Duration sweep_interval() const;
    [[nodiscard]] HttpReply overloaded() const;

    void keep_spare() {
        if (spare < 0) spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    void drop_spare() {
        if (spare >= 0) ::close(std::exchange(spare, -1));
    }

    io::AsioLoop& loop;
    std::shared_ptr<Hub> const hub;
    Acceptor acceptor;
    int spare =
        -1;  // a descriptor to give up, so that a client can be refused when no other is left
    std::size_t limit = 0;
    std::uint64_t refused = 0;
    bool ended = false;
};

Result<std::uint16_t> HttpServer::Impl::listen(int listener) {
    auto const address = parse_address(hub->options.address);
    if (!address) return std::unexpected(address.error());
    Tcp::endpoint const endpoint(*address, hub->options.port);
    if (auto const code = open(endpoint, listener)) {
        error_code ignored;
        acceptor.close(ignored);
        return std::unexpected(why_not(endpoint, code));
    }
    limit = connection_limit(hub->options);
    keep_spare();
    accept();
    sweep();
    return acceptor.local_endpoint().port();
}

error_code HttpServer::Impl::open(Tcp::endpoint const& endpoint, int listener) {
    error_code code;
    if (listener >= 0) {
        acceptor.assign(endpoint.protocol(), listener, code);
        set_options();
        return code;
    }
    if (acceptor.open(endpoint.protocol(), code)) return code;
    if (acceptor.set_option(Acceptor::reuse_address(true), code)) return code;
    if (endpoint.address().is_v6()) {
        // [::] accepts IPv4 too.
        if (acceptor.set_option(boost::asio::ip::v6_only(false), code)) return code;
    }
    set_options();
    if (acceptor.bind(endpoint, code)) return code;
    acceptor.listen(backlog, code);
    return code;
}

// Linux copies both to accepted sockets, which saves two calls for each connection. Without them
// the server works, so that their errors are ignored.
void HttpServer::Impl::set_options() {
    error_code ignored;
    acceptor.set_option(Tcp::no_delay(true), ignored);
    ::setsockopt(acceptor.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_max_ms,
                 sizeof unacknowledged_max_ms);
}

void HttpServer::Impl::accept() {
    acceptor.async_accept([self = shared_from_this()](error_code const& code, Socket socket) {
        self->on_accepted(code, std::move(socket));
    });
}

void HttpServer::Impl::on_accepted(error_code const& code, Socket socket) {
    if (!acceptor.is_open()) return;
    if (!code) {
        take(std::move(socket));
        return accept();
    }
    if (code == boost::asio::error::connection_aborted) return accept();
    if (out_of_files(code)) turn_away();
    hub->log.warn("cannot accept connections", {{"why", code.message()}});
    accept_later();
}

// Returns the name under which a connection is counted; empty: it is from this machine, or from a
// proxy that serves many clients.
std::string HttpServer::Impl::counted_as(Socket const& socket) const {
    error_code ignored;
    auto peer = socket.remote_endpoint(ignored).address();
    if (peer.is_v6() && peer.to_v6().is_v4_mapped())
        peer = make_address_v4(boost::asio::ip::v4_mapped, peer.to_v6());
    std::string const address = peer.to_string();
    return peer.is_loopback() || hub->proxies.trusts(address) ? "" : network_of(address);
}

void HttpServer::Impl::take(Socket socket) {
    auto const open = hub->connections.size();
    std::string network = counted_as(socket);
    bool const taken = open < limit && hub->by_address.enter(network);
    if (!taken) ++refused;
    if (taken) {
        std::make_shared<Connection>(hub, std::move(socket), std::move(network))->start();
    } else if (open >= limit && open < limit + refusals_max) {
        std::make_shared<Connection>(hub, std::move(socket))->refuse(overloaded());
    }
    // Otherwise it is closed without a reply: one address over its limit must not use the places of
    // others.
}

HttpReply HttpServer::Impl::overloaded() const {
    HttpRequest head;
    head.id = hub->next_request_id();
    Error error{Code::overloaded, "the server holds as many connections as it can", {}, 1'000};
    return hub->handler.problem(error, head);
}

// accept() fails at once while descriptors are short; without a pause the retries would use the
// whole thread.
void HttpServer::Impl::accept_later() { after(accept_pause, &Impl::accept_again); }

void HttpServer::Impl::accept_again() {
    if (acceptor.is_open()) accept();
}

// Does nothing if the server has been destroyed by then.
void HttpServer::Impl::after(Duration delay, void (Impl::*work)()) {
    loop.after(delay, [work, impl = weak_from_this()] {
        if (auto const self = impl.lock()) (self.get()->*work)();
    });
}

// Refuses each client in the backlog, one after the other through the spare descriptor, so that
// none waits forever.
void HttpServer::Impl::turn_away() {
    drop_spare();
    std::string bytes;
    append_reply(bytes, overloaded(), {false, true, false, hub->date});
    for (int i = 0; i < turned_away_max; ++i) {
        int const client =
            ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client < 0) break;
        ++refused;
        static_cast<void>(::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL));
        ::shutdown(client, SHUT_WR);
        ::close(client);
    }
    keep_spare();
}

void HttpServer::Impl::stop_accepting() {
    error_code ignored;
    acceptor.close(ignored);
    hub->draining = true;
}

// Often enough to keep the shortest limit within a quarter, at most once a second.
Duration HttpServer::Impl::sweep_interval() const {
    auto const& o = hub->options;
    auto const shortest =
        std::min({o.header_time_limit, o.body_time_limit, o.idle_time_limit, o.heartbeat});
    return std::clamp(shortest / 4, Duration(5), Duration(1'000));
}

void HttpServer::Impl::sweep() {
    if (ended) return;
    hub->date = http_date(hub->clock.now());
    auto const now = hub->clock.monotonic();
    // From the back: a connection that closes moves the last one to its index.
    for (auto i = hub->connections.size(); i-- > 0;) {
        if (i < hub->connections.size()) std::shared_ptr(hub->connections[i])->sweep(now);
    }
    after(sweep_interval(), &Impl::sweep);
}

void HttpServer::Impl::close_all() {
    while (!hub->connections.empty()) std::shared_ptr(hub->connections.back())->close();
}

HttpServer::HttpServer(io::AsioLoop& loop, port::Clock const& clock, HttpOptions options,
                       HttpHandler& handler, io::Log& log)
    : impl_(std::make_shared<Impl>(loop, clock, std::move(options), handler, log)) {}

HttpServer::~HttpServer() {
    impl_->ended = true;
    impl_->stop_accepting();
    impl_->hub->on_empty = nullptr;
    impl_->close_all();
}

Result<std::uint16_t> HttpServer::listen(int listener) { return impl_->listen(listener); }

void HttpServer::set_limits(HttpOptions const& next) {
    impl_->hub->set_limits(next);
    impl_->limit = connection_limit(impl_->hub->options);
}

void HttpServer::stop_accepting() { impl_->stop_accepting(); }

void HttpServer::close_streams(std::string final_frames) {
    auto const last = std::make_shared<std::string const>(std::move(final_frames));
    auto const connections = impl_->hub->connections;
    for (auto const& connection : connections) {
        if (connection->streams() && connection->send(last)) connection->end_stream();
    }
}

void HttpServer::shutdown(Duration limit, port::Fn<void()> done) {
    stop_accepting();
    auto const& hub = impl_->hub;
    hub->on_empty = std::move(done);
    auto const connections = hub->connections;
    for (auto const& connection : connections) connection->finish();
    if (hub->connections.empty() && hub->on_empty) {
        return impl_->loop.post(std::exchange(hub->on_empty, nullptr));
    }
    impl_->after(limit, &Impl::close_all);
}

HttpServer::Counts HttpServer::counts() const {
    return {impl_->hub->connections.size(), impl_->hub->streams, impl_->refused};
}

}  // namespace dormouse::http
