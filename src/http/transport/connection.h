#pragma once
// One client's TCP connection: reads requests, hands each to the handler, writes the replies in
// order, and becomes an event stream when the handler says so. Callbacks instead of coroutines, so
// that a connection at rest is this object and one pending wait: no frame, no buffer, no timer (all
// read through one buffer of the hub; the hub's sweep keeps the times). Everything runs on the
// loop.

#include "http/transport/frame_queue.h"
#include "http/transport/http.h"
#include "http/transport/hub.h"
#include "http/transport/request_parser.h"
#include "http/transport/response.h"
#include "io/tls.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::server {

// With the executor's concrete type: Asio calls it directly instead of through a table.
using Tcp = boost::asio::ip::tcp;
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<Tcp, Executor>;

class Connection final : public std::enable_shared_from_this<Connection> {
public:
    // `network`: for what the hub counts it; empty: it is not counted.
    Connection(std::shared_ptr<Hub> hub, Socket socket, std::string network = {});

    void start();
    // Instead of start(): says `reply` without having read a request, and ends.
    void refuse(HttpReply const& reply);
    // Ends it because too many bytes are held: with 503, if it has said nothing yet.
    void cut();
    // Called every few hundred milliseconds; `now` is the clock's monotonic time.
    void sweep(Duration now);
    // Ends it when it is at rest, else after the reply or after what the stream has queued.
    void finish();
    void close();

    // For the Responder of one request.
    [[nodiscard]] bool waits_for(std::uint64_t number) const;
    [[nodiscard]] bool client_gone() const { return stage_ == Stage::closed || saw_end_; }
    void answer(std::uint64_t number, HttpReply const& reply);
    void answer_nothing(std::uint64_t number, std::string id);
    // REQUIRES: waits_for(number).
    void begin_stream(std::vector<std::pair<std::string, std::string>> const& headers);

    // For its EventStream.
    [[nodiscard]] bool streams() const { return stage_ == Stage::streaming && !stream_->ending; }
    bool send(std::shared_ptr<std::string const> frames);
    [[nodiscard]] std::size_t queued_bytes() const { return stream_ ? stream_->queue.bytes() : 0; }
    void on_drained(port::Fn<void()> again);
    void on_closed(port::Fn<void()> gone);
    void end_stream();
    void flush_stream();

private:
    friend struct Hub;
    enum class Stage : std::uint8_t {
        reading,   // waits for a request, or for the rest of one
        handling,  // the handler has one
        sending,   // reads the body of its reply while it writes it
        streaming,
        ending,     // has its last bytes to write
        lingering,  // has written all; waits for the client to close, so that no reset eats the
                    // reply
        closed,
    };
    struct Stream {
        FrameQueue queue;
        bool ending = false;
        bool flush_due = false;  // stands in hub_->unflushed
        Duration next_beat{};
        port::Fn<void()> drained;
        port::Fn<void()> closed;
    };

    // Through TLS, when there is any. What the socket is waited for to do before it goes on, if it
    // moved nothing, is told by would_block.
    [[nodiscard]] std::size_t read_some(boost::system::error_code& code);
    template <class Buffers>
    [[nodiscard]] std::size_t write_some(Buffers const& buffers, boost::system::error_code& code);
    [[nodiscard]] std::size_t tls_result(io::TlsStream::Moved moved, bool reading,
                                         boost::system::error_code& code);
    void enter_hub();
    void arm_read();
    void arm_write();
    void on_readable();
    void on_writable();
    void on_end();
    void discard(std::size_t bytes);
    void work(std::string_view fresh);
    void settle();
    [[nodiscard]] bool can_work() const;
    // A request is in hand; what comes meanwhile is kept for later.
    [[nodiscard]] bool answering() const {
        return stage_ == Stage::handling || stage_ == Stage::sending;
    }
    [[nodiscard]] std::size_t step(std::string_view input);
    [[nodiscard]] bool admit();
    void dispatch();
    void reject(Error const& error);
    void put_reply(HttpReply const& reply);
    void end_reply();
    void pull();
    void take_piece(Result<std::string> piece);
    void flush();
    // Tells the hub what it holds now. May end it.
    void charge();
    [[nodiscard]] std::size_t held() const;
    [[nodiscard]] bool may_cut() const;
    void linger();
    void run_out_of_time();
    [[nodiscard]] Duration now() const { return hub_->clock.monotonic(); }
    void set_deadline(Duration limit) { deadline_ = now() + limit; }
    void no_deadline() { deadline_ = Duration::max(); }
    void beat(Duration now);
    void tell_drained();
    void flush_soon();

    std::shared_ptr<Hub> const hub_;
    Socket socket_;
    std::unique_ptr<io::TlsStream> tls_;  // null: plain
    std::string peer_;
    std::string const network_;  // under which hub_->by_address counts it
    std::string in_;             // bytes read and not yet taken
    std::string out_;            // replies not yet written
    std::size_t out_sent_ = 0;
    std::size_t discarded_ = 0;
    std::optional<RequestParser> parser_;  // while a request is being read
    std::unique_ptr<Stream> stream_;
    std::shared_ptr<BodySource> source_;  // of the reply that is being sent
    std::uint64_t left_ = 0;              // bytes that are to be read from it
    std::size_t handled_bytes_ = 0;       // of the request that the handler has
    std::size_t charged_ = 0;             // what the hub was told
    Duration held_since_ = Duration::max();
    std::uint64_t number_ = 0;  // of the request in hand; counts those of this connection
    Duration deadline_ = Duration::max();
    std::size_t slot_ = 0;  // place in hub_->connections
    Stage stage_ = Stage::reading;
    bool peer_is_loopback_ = false;
    bool known_ = false;               // the last request bore a valid token
    bool charged_known_ = false;       // and so did that of which the hub was told
    bool pulling_ = false;             // source_ is being read
    bool read_when_writable_ = false;  // TLS: a read waits for room to write
    bool write_when_readable_ = false;
    bool keep_alive_ = true;
    bool head_only_ = false;
    bool http_1_0_ = false;
    bool begun_ = false;    // the deadline of the request being read is set
    bool working_ = false;  // inside work(): answers are collected and written at its end
    bool reading_ = false;  // a wait for input is pending
    bool writing_ = false;  // a wait for room to write is pending
    bool saw_end_ = false;  // the client sends no more
};

}  // namespace dormouse::server
