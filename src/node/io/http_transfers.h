#pragma once
// Outgoing HTTP on the thread that calls: one libcurl multi handle. The server and the library give
// it a thread of its own (http_client.h); a command waits for it beside its other descriptors.

#include "port/http.h"

#include <poll.h>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace dormouse::io {

// Certificates are verified. Compressed answers are not asked for. Loopback is always reached
// directly.
struct HttpClientOptions {
    std::string user_agent = "dormouse";
    std::string ca_file = {};          // of certificates to trust; empty: those of the system
    std::string ca_folder = {};        // the same, by OpenSSL's hashed names
    bool proxies = true;               // those of the environment (https_proxy, no_proxy …)
    bool own_thread = true;            // which blocks signals; false: SIGPIPE is ignored meanwhile
    std::size_t active_max = 256;      // of CurlHttpClient: more wait, oldest first
    std::size_t waiting_max = 10'000;  // of CurlHttpClient: more fail with `overloaded`
};

class HttpTransfers {
public:
    explicit HttpTransfers(HttpClientOptions options);
    // Ends all that is under way; no callback comes afterwards.
    ~HttpTransfers();
    HttpTransfers(HttpTransfers const&) = delete;
    HttpTransfers& operator=(HttpTransfers const&) = delete;

    // Callbacks come from inside turn(); `done` from here if the request cannot be sent at all.
    // `head` and `data` may call nothing of this object. REQUIRES: all callbacks are set, and `id`
    // is not under way.
    void start(port::HttpId id, port::HttpRequest request, port::HttpCallbacks callbacks);
    // No callback comes afterwards. What has ended, or never was, is ignored.
    void cancel(port::HttpId id);
    [[nodiscard]] std::size_t under_way() const;
    // Waits until something can move, one of `others` is ready (as poll(2) shows it), wake() is
    // called or `limit` is over; then moves what can be moved.
    void turn(Duration limit, std::span<pollfd> others = {});
    // From any thread: turn() returns.
    void wake();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::io
