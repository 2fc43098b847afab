#pragma once
// Outgoing HTTP. Called from the loop; every callback comes on the loop, never from inside the call
// that asked.

#include "port/world.h"

#include <cstdint>
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
    // Limits; zero: none. They count from when the request is begun, not while it waits for room.
    Duration connect_limit{10'000};  // name, connection and TLS
    Duration idle_limit{60'000};     // without a byte in either direction
    Duration total_limit{600'000};
    std::size_t response_max = 8U << 20U;  // bytes of the body
    std::uint32_t redirects_max = 0;       // 0: a redirect is an answer like any other
    // Addresses of this machine and of private and special networks are not connected to, whatever
    // the name resolves to; it fails as `forbidden`. No proxy is asked and no connection kept.
    bool public_only = false;
    // A kept connection may turn out to be closed; a request that got no answer on it is then sent
    // again on a new one, by itself. True: never; it fails as `lost`.
    bool send_once = false;
};

struct HttpHead {
    std::uint16_t status = 0;
    std::vector<HttpHeader> headers;

    // The first of that name, in any case; nullopt: there is none.
    [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

// retry-after-ms, else Retry-After as seconds or as an HTTP date. nullopt: nothing that can be
// read.
[[nodiscard]] std::optional<Duration> retry_after(HttpHead const& head, Time now);

// Why there was no answer, or only part of one.
struct HttpFailure {
    enum class Kind : std::uint8_t {
        bad_request,  // no such URL, method or header can be sent
        forbidden,    // public_only, and the address is not
        overloaded,   // too many requests wait for room
        no_route,     // the name was not found, nobody listens, connect_limit
        tls,          // the other side could not be trusted
        lost,         // the connection ended, or what came was no HTTP
        timed_out,    // idle_limit or total_limit
        too_large,    // response_max, or 64 KiB of headers
    };
    Kind kind = Kind::lost;
    std::string reason;  // for a person; holds neither headers nor the query of the URL
    bool sent = false;   // bytes of the request have left: the other side may have acted on it
};

struct HttpCallbacks {
    Fn<void(HttpHead)> head = {};                // at most once, before any data
    Fn<void(std::string_view chunk)> data = {};  // of the body, in order
    // Last, and exactly once unless the request is cancelled. nullopt: the answer is complete.
    Fn<void(std::optional<HttpFailure>)> done;
};

using HttpId = std::uint64_t;  // from 1

class HttpClient {
public:
    virtual ~HttpClient() = default;  // cancels all that runs
    // REQUIRES: callbacks.done is set.
    virtual HttpId start(HttpRequest request, HttpCallbacks callbacks) = 0;
    // No callback comes afterwards. What has ended, or never was, is ignored.
    virtual void cancel(HttpId id) = 0;
};

}  // namespace dormouse::port
