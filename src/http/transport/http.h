#pragma once
// The transport's plain face: handlers see requests and replies as values and know nothing of
// sockets, Asio or Beast. Everything here runs on the I/O thread. A handler answers once, now or
// later, by calling `reply`.

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

namespace dormouse::server {

struct HttpRequest {
    std::string method;                                        // upper case
    std::string path;                                          // percent-decoded, without the query
    std::vector<std::string> segments;                         // path split at '/', each decoded
    std::vector<std::pair<std::string, std::string>> query;    // decoded, in order
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;
    std::string peer_address;  // without port
    bool peer_is_loopback = false;
    bool secure = false;     // it came over TLS
    bool head_only = false;  // asked with HEAD, which `method` shows as GET
    std::string id;          // request id, for logs and problems

    [[nodiscard]] std::string_view header(
        std::string_view lower_case_name) const;  // empty when absent
    [[nodiscard]] std::optional<std::string_view> query_value(std::string_view name) const;
};

// A body that is read from somewhere while it is sent, so that it is never in memory as a whole.
// On the loop. Dropped without being read to its end when the client is gone or asked with HEAD.
class BodySource {
public:
    virtual ~BodySource() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    // The bytes that follow those of the last call; the next call comes after `done`. An error or
    // an empty piece ends the connection, so that the client sees that the body is not whole.
    virtual void read(port::Fn<void(Result<std::string>)> done) = 0;
};

struct HttpReply {
    int status = 200;
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};  // besides the common ones
    std::string body = {};
    std::shared_ptr<BodySource> source = {};  // in the place of `body`; null: none
};

// An open Server-Sent Events response. The transport owns the socket; a stream outlives its reader
// safely.
class EventStream {
public:
    virtual ~EventStream() = default;
    // Queues bytes (whole frames, shared between readers). False once the reader is gone or was cut
    // off for being too slow (over 1 MiB queued before): it comes back with Last-Event-ID.
    virtual bool send(std::shared_ptr<std::string const> frames) = 0;
    [[nodiscard]] virtual bool open() const = 0;
    [[nodiscard]] virtual std::size_t queued_bytes() const = 0;
    // Called on the loop when the queue has run empty after having held something.
    virtual void on_drained(port::Fn<void()> again) = 0;
    // Called once, on the loop, when the reader is gone.
    virtual void on_closed(port::Fn<void()> gone) = 0;
    virtual void close() = 0;  // after what is queued has been written
};

// What a handler is given to answer with. Exactly one of reply() and stream() is called, exactly
// once; a Responder that is dropped without an answer answers 500 internal.
class Responder {
public:
    virtual ~Responder() = default;
    virtual void reply(HttpReply reply) = 0;
    // Sends the head of an SSE response at once and hands the stream out. Comment heartbeats every
    // 15 s are the transport's business.
    virtual std::shared_ptr<EventStream> stream(
        std::vector<std::pair<std::string, std::string>> headers) = 0;
    // True when the client has gone: nobody waits for the answer any more.
    [[nodiscard]] virtual bool gone() const = 0;
};

// Everything behind the transport. `handle` is called once the whole request has been read.
class HttpHandler {
public:
    virtual ~HttpHandler() = default;
    virtual void handle(HttpRequest request, std::shared_ptr<Responder> responder) = 0;
    // The largest body this route takes, asked when the head has been read; a longer one is refused
    // with 413 before it is read.
    [[nodiscard]] virtual std::size_t body_limit(std::string_view method,
                                                 std::string_view path) const = 0;
    // Checked before the body is read: Host, Origin, token, content type. nullopt: go on. The reply
    // ends the request.
    [[nodiscard]] virtual std::optional<HttpReply> refuse(HttpRequest const& head) = 0;
    // The head bears a valid token or capability. All others share a small part of the bytes that
    // connections may hold. Asked after refuse().
    [[nodiscard]] virtual bool knows(HttpRequest const& /*head*/) const { return false; }
    // A reply for what the transport itself refuses (headers_too_large, too_large, bad request
    // line, overloaded).
    [[nodiscard]] virtual HttpReply problem(Error const& error, HttpRequest const& head) = 0;
};

struct HttpOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 3676;             // 0: any free one
    std::size_t connections_max = 10'000;  // and never within 64 of RLIMIT_NOFILE
    // Of one address, or of one network of IPv6; not of this machine or of a trusted proxy.
    std::size_t connections_per_address_max = 1'000;
    // Requests that are not read to their end and replies that are not written, of all connections
    // together; of those without a valid token a tenth of it.
    std::size_t buffer_bytes_max = std::size_t{256} << 20;
    std::size_t header_bytes_max = 32 * 1024;
    Duration header_time_limit{10'000};  // a whole head must have come by then
    Duration body_time_limit{60'000};
    Duration idle_time_limit{75'000};  // keep-alive
    Duration heartbeat{15'000};        // an event stream that is silent for so long gets a comment
    // Addresses and networks ("10.0.0.0/8") whose X-Forwarded-For and -Proto are believed.
    std::vector<std::string> trusted_proxies = {};
    bool only_proxied = false;     // whoever is neither one of them nor this machine is refused
    io::TlsServer* tls = nullptr;  // null: plain HTTP. Outlives the server
};

}  // namespace dormouse::server
