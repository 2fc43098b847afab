#pragma once
// Outgoing HTTP on a thread of its own.

#include "io/http/http_transfers.h"
#include "port/http.h"

#include <memory>

namespace dormouse::io {

class CurlHttpClient final : public port::HttpClient {
public:
    // `loop` outlives this.
    explicit CurlHttpClient(port::Loop& loop, HttpClientOptions options = {});
    // Ends all transfers and joins the thread; no callback is called afterwards. REQUIRES: not
    // called from a callback.
    ~CurlHttpClient() override;
    CurlHttpClient(CurlHttpClient const&) = delete;
    CurlHttpClient& operator=(CurlHttpClient const&) = delete;

    port::HttpId start(port::HttpRequest request, port::HttpCallbacks callbacks) override;
    void cancel(port::HttpId id) override;

private:
    struct Calls;   // the loop's side: callbacks by id
    struct Thread;  // the thread's side

    port::Loop& loop_;
    std::shared_ptr<Calls> calls_;
    std::unique_ptr<Thread> thread_;
    port::HttpId last_ = 0;
};

}  // namespace dormouse::io
