#pragma once
// Outgoing HTTP. Called from the loop; every callback comes on the loop, never from inside the call
// that started it.

#include "port/world.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::port {

struct HttpHeader {
    std::string name;
    std::string value;
};

struct HttpRequest {
    std::string method = "GET";
    std::string url;  // http:// or https://
    std::vector<HttpHeader> headers = {};
    std::string body = {};
    // Limits; zero: none. They start when the request is sent, not while it is queued.
    Duration connect_limit{10'000};  // name lookup, connection and TLS
    Duration idle_limit{60'000};     // without a byte in either direction
    Duration total_limit{600'000};
    std::size_t response_max = 8U << 20U;  // bytes of the body
    std::uint32_t redirects_max = 0;       // 0: a redirect is returned like any other response
    // Refuses to connect to addresses of this machine and of private and special networks, whatever
    // the name resolves to (`forbidden`). Uses no proxy and keeps no connection.
    bool public_only = false;
    // A kept connection may be closed by the peer; a request without a response on it is sent again
    // on a new one. True: never; it fails as `lost`.
    bool send_once = false;
    // Asked on any thread when the request leaves the queue. False: it is not sent, and fails as
    // `overloaded`. Empty: it is always sent.
    std::function<bool()> may_start = {};
};

struct HttpHead {
    std::uint16_t status = 0;
    std::vector<HttpHeader> headers;

    // The first header of that name, in any case; nullopt: none.
    [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

// retry-after-ms, else Retry-After as seconds or HTTP date. nullopt: none, or unreadable.
[[nodiscard]] std::optional<Duration> retry_after(HttpHead const& head, Time now);

// Why there was no response, or only part of one.
struct HttpFailure {
    enum class Kind : std::uint8_t {
        bad_request,  // invalid URL, method or header
        forbidden,    // public_only, and the address is not public
        overloaded,   // too many requests are queued, or it was queued until it must not be sent
        no_route,     // name not found, connection refused, or connect_limit
        tls,          // the peer could not be authenticated
        lost,         // the connection ended, or the response was not HTTP
        timed_out,    // idle_limit or total_limit
        too_large,    // response_max, or 64 KiB of headers
    };
    Kind kind = Kind::lost;
    std::string reason;  // for a person; never holds headers or the query of the URL
    bool sent = false;   // bytes of the request were sent: the peer may have acted on it
};

struct HttpCallbacks {
    Fn<void(HttpHead)> head = {};                // at most once, before any data
    Fn<void(std::string_view chunk)> data = {};  // of the body, in order
    // Last, and exactly once unless the request is cancelled. nullopt: the response is complete.
    Fn<void(std::optional<HttpFailure>)> done;
};

using HttpId = std::uint64_t;  // from 1

class HttpClient {
public:
    virtual ~HttpClient() = default;  // cancels all running requests
    // REQUIRES: callbacks.done is set.
    virtual HttpId start(HttpRequest request, HttpCallbacks callbacks) = 0;
    // No callback comes afterwards. Ignores requests that have ended or never existed.
    virtual void cancel(HttpId id) = 0;
};

}  // namespace dormouse::port
