#pragma once
// The interface of the transport: handlers see requests and replies as values, without sockets,
// Asio or Beast. Everything here runs on the I/O thread. A handler answers exactly once, now or
// later, through its Responder.

#include <dormouse/error.h>

#include "port/world.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::io {
class TlsServer;
}

namespace dormouse::http {

struct HttpRequest {
    std::string method;                                        // upper case
    std::string path;                                          // percent-decoded, without the query
    std::vector<std::string> segments;                         // path split at '/', each decoded
    std::vector<std::pair<std::string, std::string>> query;    // decoded, in order
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;
    std::string peer_address;  // without port
    bool peer_is_loopback = false;
    bool secure = false;     // received over TLS
    bool head_only = false;  // the request is HEAD; `method` is then GET
    std::string id;          // request id, for logs and problems

    [[nodiscard]] std::string_view header(
        std::string_view lower_case_name) const;  // empty when absent
    // The values of all headers of this name, joined by commas.
    [[nodiscard]] std::string joined(std::string_view lower_case_name) const;
    [[nodiscard]] std::optional<std::string_view> query_value(std::string_view name) const;
};

// A body that is read while it is sent, so that it is never whole in memory. On the loop. Dropped
// before its end when the client is gone or the request is HEAD.
class BodySource {
public:
    virtual ~BodySource() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    // Passes the next piece to `done`; called again only after `done`. An error or an empty piece
    // ends the connection, so that the client sees that the body is incomplete.
    virtual void read(port::Fn<void(Result<std::string>)> done) = 0;
};

struct HttpReply {
    int status = 200;
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers =
        {};  // in addition to the common ones
    std::string body = {};
    std::shared_ptr<BodySource> source = {};  // in place of `body`; null: none
};

// An open Server-Sent Events response. The transport owns the socket; a stream may outlive its
// connection.
class EventStream {
public:
    virtual ~EventStream() = default;
    // Queues bytes (whole frames, shared between readers). Returns false when the reader is gone or
    // was cut off because more than 1 MiB was queued before: it reconnects with Last-Event-ID.
    virtual bool send(std::shared_ptr<std::string const> frames) = 0;
    [[nodiscard]] virtual bool open() const = 0;
    [[nodiscard]] virtual std::size_t queued_bytes() const = 0;
    // `again` is called on the loop when the queue becomes empty.
    virtual void on_drained(port::Fn<void()> again) = 0;
    // `gone` is called once, on the loop, when the reader is gone.
    virtual void on_closed(port::Fn<void()> gone) = 0;
    virtual void close() = 0;  // after the queue has been written
};

// Answers one request. Exactly one of reply() and stream() is called, exactly once; a Responder
// that is dropped without an answer sends 500 internal.
class Responder {
public:
    virtual ~Responder() = default;
    virtual void reply(HttpReply reply) = 0;
    // Sends the head of an SSE response at once and returns the stream. The transport sends a
    // comment as heartbeat every 15 s.
    virtual std::shared_ptr<EventStream> stream(
        std::vector<std::pair<std::string, std::string>> headers) = 0;
    // Returns true when the client has gone and the answer is not needed.
    [[nodiscard]] virtual bool gone() const = 0;
    // The handler has freed the request's body: its bytes no longer count as those of the
    // connection.
    virtual void body_freed() = 0;
};

// The application behind the transport. `handle` is called when the whole request has been read.
class HttpHandler {
public:
    virtual ~HttpHandler() = default;
    virtual void handle(HttpRequest request, std::shared_ptr<Responder> responder) = 0;
    // Returns the largest body that this route accepts; called when the head has been read. A
    // longer body is refused with 413 before it is read.
    [[nodiscard]] virtual std::size_t body_limit(std::string_view method,
                                                 std::string_view path) const = 0;
    // Checks Host, Origin, token and content type before the body is read. nullopt: continue. A
    // reply ends the request.
    [[nodiscard]] virtual std::optional<HttpReply> refuse(HttpRequest const& head) = 0;
    // Returns true if the head has a valid token or capability. All other requests share a small
    // part of the bytes that connections may hold. Called after refuse().
    [[nodiscard]] virtual bool knows(HttpRequest const& head) const = 0;
    // Returns the reply to what the transport itself refuses (headers_too_large, too_large, bad
    // request line, overloaded).
    [[nodiscard]] virtual HttpReply problem(Error const& error, HttpRequest const& head) = 0;
};

struct HttpOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 3676;             // 0: any free one
    std::size_t connections_max = 10'000;  // stays 64 below RLIMIT_NOFILE
    // For one address, or one network of IPv6; not for this machine or a trusted proxy.
    std::size_t connections_per_address_max = 1'000;
    // Limit of the bytes of unfinished requests and unwritten replies, over all connections; those
    // without a valid token may hold a tenth of it.
    std::size_t buffer_bytes_max = std::size_t{256} << 20;
    std::size_t header_bytes_max = 32 * 1024;
    Duration header_time_limit{10'000};  // until the whole head has arrived
    Duration body_time_limit{60'000};
    Duration idle_time_limit{75'000};  // keep-alive
    Duration heartbeat{15'000};        // a stream that is silent for this long gets a comment
    // Addresses and networks ("10.0.0.0/8") whose X-Forwarded-For and -Proto are trusted.
    std::vector<std::string> trusted_proxies = {};
    bool only_proxied =
        false;  // refuse clients that are neither a trusted proxy nor on this machine
    io::TlsServer* tls = nullptr;  // null: plain HTTP. Outlives the server
};

}  // namespace dormouse::http
