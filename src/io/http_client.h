#pragma once
// Outgoing HTTP on a thread of its own: one libcurl multi handle. libcurl itself is seen only by
// http_transfer.

#include "port/http.h"

#include <memory>
#include <string>

namespace dormouse::io {

struct HttpClientOptions {
    std::string user_agent = "dormouse";
    std::string ca_file = {};          // of certificates to trust; empty: those of the system
    std::size_t active_max = 256;      // more wait, oldest first
    std::size_t waiting_max = 10'000;  // more fail with `overloaded`
};

// Proxies are those of the environment (https_proxy, no_proxy …); loopback is always reached
// directly. Certificates are verified. Compressed answers are not asked for.
class CurlHttpClient final : public port::HttpClient {
public:
    // `loop` outlives this.
    explicit CurlHttpClient(port::Loop& loop, HttpClientOptions options = {});
    // Ends all transfers and joins the thread. No callback comes afterwards. Not from a callback.
    ~CurlHttpClient() override;
    CurlHttpClient(CurlHttpClient const&) = delete;
    CurlHttpClient& operator=(CurlHttpClient const&) = delete;

    port::HttpId start(port::HttpRequest request, port::HttpCallbacks callbacks) override;
    void cancel(port::HttpId id) override;

private:
    struct Calls;   // the loop's half: callbacks by id
    struct Thread;  // the other half

    port::Loop& loop_;
    std::shared_ptr<Calls> calls_;
    std::unique_ptr<Thread> thread_;
    port::HttpId last_ = 0;
};

}  // namespace dormouse::io
