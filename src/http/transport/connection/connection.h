#pragma once
// One client's TCP connection: reads requests, passes each to the handler, writes the replies in
// order, and becomes an event stream when the handler asks for one. ConnectionState decides the
// next actions; this class performs them. It uses callbacks instead of coroutines, so that an idle
// connection is this object and one pending wait: no frame, no buffer, no timer (all connections
// read through one buffer of the hub; the hub's sweep checks the times). Everything runs on the
// loop.

#include "http/transport/connection/connection_state.h"
#include "http/transport/connection/frame_queue.h"
#include "http/transport/connection/hub.h"
#include "http/transport/http.h"
#include "http/transport/request_parser.h"
#include "http/transport/response.h"
#include "io/http/tls.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

// With the executor's concrete type: Asio calls it directly instead of through a table.
using Tcp = boost::asio::ip::tcp;
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<Tcp, Executor>;

class Connection final : public std::enable_shared_from_this<Connection> {
public:
    // `network`: the name under which the hub counts it; empty: not counted.
    Connection(std::shared_ptr<Hub> hub, Socket socket, std::string network = {});

    void start();
    // In place of start(): sends `reply` without reading a request, and closes.
    void refuse(HttpReply const& reply);
    // Closes because too many bytes are held; sends 503 if no reply has been sent for the request.
    void cut();
    // Called every few hundred milliseconds; `now` is the clock's monotonic time.
    void sweep(Duration now);
    // Closes now if idle, else after the reply or after the queued frames of the stream.
    void finish();
    void close();

    // For the Responder of one request.
    [[nodiscard]] bool waits_for(std::uint64_t number) const;
    [[nodiscard]] bool client_gone() const {
        return state_.phase == Phase::closed || state_.client_ended;
    }
    void answer(std::uint64_t number, HttpReply const& reply);
    void answer_nothing(std::uint64_t number, std::string id);
    // The body of this request is no longer in memory.
    void free_body(std::uint64_t number);
    // REQUIRES: waits_for(number).
    void begin_stream(std::vector<std::pair<std::string, std::string>> const& headers);

    // For its EventStream.
    [[nodiscard]] bool streams() const { return state_.phase == Phase::streaming; }
    bool send(std::shared_ptr<std::string const> frames);
    [[nodiscard]] std::size_t queued_bytes() const { return stream_ ? stream_->queue.bytes() : 0; }
    void on_drained(port::Fn<void()> again);
    void on_closed(port::Fn<void()> gone);
    void end_stream();
    void flush_stream();

private:
    friend struct Hub;
    using Phase = ConnectionState::Phase;
    using Event = ConnectionEvent;
    using Moved = io::TlsStream::Moved;
    struct Stream {
        FrameQueue queue;
        bool flush_due = false;  // it is in hub_->unflushed
        port::Fn<void()> drained;
        port::Fn<void()> closed;
    };

    void enter_hub();
    // Takes the step and performs its actions; `moved`: what the socket did.
    void on(Event event, Moved const& moved = {});
    void perform(ConnectionAction action, Moved const& moved);
    // on() for events from outside; then waits for input if the state allows it.
    void happen(Event event);
    void settle();
    [[nodiscard]] ConnectionBytes bytes() const;
    void start_deadline();
    void release();

    // The socket, through TLS when there is any.
    [[nodiscard]] Moved read_some();
    [[nodiscard]] Moved write_some(std::span<boost::asio::const_buffer const> buffers);
    void wait_input(Moved const& moved);
    void wait_output(Moved const& moved);
    void read_input();
    void discard_input(std::size_t bytes);
    void write();
    void write_stream();
    void write_stopped(Moved const& moved);
    void shut_output();
    void notify_drained();
    void write_soon();

    // Requests.
    void take_requests(std::string_view fresh);
    [[nodiscard]] bool may_take();
    [[nodiscard]] std::size_t take(std::string_view input);
    [[nodiscard]] bool admit();
    void dispatch();

    // Replies.
    void reject(Error const& error);
    void put_reply(HttpReply const& reply);
    void read_source();
    void take_piece(Result<std::string> piece);

    // Reports the held bytes to the hub, which may close this connection.
    void charge();
    [[nodiscard]] std::size_t buffered() const;
    [[nodiscard]] bool may_cut() const;

    std::shared_ptr<Hub> const hub_;
    Socket socket_;
    std::unique_ptr<io::TlsStream> tls_;  // null: plain
    std::string peer_;
    std::string const network_;  // under which hub_->by_address counts it
    std::string in_;             // bytes read but not yet parsed
    std::string out_;            // replies not yet written
    std::size_t out_sent_ = 0;
    std::size_t discarded_ = 0;
    std::optional<RequestParser> parser_;  // in the phases head and body
    std::unique_ptr<Stream> stream_;       // from the phase streaming on
    std::shared_ptr<BodySource> source_;   // in the phases sending and pulling
    std::uint64_t body_left_ = 0;          // bytes still to read from it
    std::size_t handled_bytes_ = 0;        // of the request in the handler
    std::size_t charged_ = 0;              // the bytes last reported to the hub
    Duration guarded_since_ = Duration::max();
    std::uint64_t number_ = 0;  // of the current request, counted from the first of this connection
    Duration deadline_ = Duration::max();
    std::size_t slot_ = 0;  // index in hub_->connections
    ConnectionState state_;
    bool peer_is_loopback_ = false;
    bool known_ = false;          // the last request had a valid token
    bool charged_known_ = false;  // known_ when the bytes were last reported
    bool head_only_ = false;      // of the current request
    bool http_1_0_ = false;
};

}  // namespace dormouse::http
