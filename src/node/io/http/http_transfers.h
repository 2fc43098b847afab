#pragma once
// Outgoing HTTP on the calling thread: one libcurl multi handle. The server and the library run it
// on a thread of its own (http_client.h); a command waits for it together with its other
// descriptors.

#include "port/http.h"

#include <poll.h>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace dormouse::io {

// Certificates are verified. Compressed responses are not requested. Loopback addresses are always
// reached directly.
struct HttpClientOptions {
    std::string user_agent = "dormouse";
    std::string ca_file = {};    // of trusted certificates; empty: the system's
    std::string ca_folder = {};  // the same, with OpenSSL's hashed names
    bool proxies = true;         // use those of the environment (https_proxy, no_proxy …)
    bool own_thread = true;  // the thread blocks signals; false: libcurl ignores SIGPIPE meanwhile
    std::size_t active_max = 256;      // CurlHttpClient: more requests wait, oldest first
    std::size_t waiting_max = 10'000;  // CurlHttpClient: more requests fail with `overloaded`
};

class HttpTransfers {
public:
    explicit HttpTransfers(HttpClientOptions options);
    // Ends all transfers; no callback is called afterwards.
    ~HttpTransfers();
    HttpTransfers(HttpTransfers const&) = delete;
    HttpTransfers& operator=(HttpTransfers const&) = delete;

    // Callbacks are called from turn(); `done` from here if the request cannot be sent at all.
    // `head` and `data` must not call this object. REQUIRES: all callbacks are set, and no transfer
    // with `id` is running.
    void start(port::HttpId id, port::HttpRequest request, port::HttpCallbacks callbacks);
    // No callback is called afterwards. Ignores an unknown or ended transfer.
    void cancel(port::HttpId id);
    [[nodiscard]] std::size_t under_way() const;
    // Waits until a transfer can continue, one of `others` is ready (as with poll(2)), wake() is
    // called or `limit` has passed; then continues the transfers.
    void turn(Duration limit, std::span<pollfd> others = {});
    // Any thread: makes turn() return.
    void wake();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::io
