#include "io/http_client.h"

#include "base/check.h"
#include "io/http_transfer.h"
#include "io/no_signals.h"

#include <pthread.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

namespace dormouse::io {

using port::HttpFailure;
using port::HttpId;

// On the loop only. What the thread posts holds a weak reference: it finds nothing when the client
// is gone.
struct CurlHttpClient::Calls {
    // Shared, because a callback may cancel its own request.
    std::map<HttpId, std::shared_ptr<port::HttpCallbacks>> by_id;

    [[nodiscard]] std::shared_ptr<port::HttpCallbacks> find(HttpId id) const {
        auto const found = by_id.find(id);
        return found == by_id.end() ? nullptr : found->second;
    }
    void head(HttpId id, port::HttpHead head) const {
        if (auto const call = find(id); call && call->head) call->head(std::move(head));
    }
    void data(HttpId id, std::string_view chunk) const {
        if (auto const call = find(id); call && call->data) call->data(chunk);
    }
    void done(HttpId id, std::optional<HttpFailure> failure) {
        auto const call = find(id);
        if (!call) return;
        by_id.erase(id);
        call->done(std::move(failure));
    }
};

struct CurlHttpClient::Thread {
    Thread(port::Loop& loop, std::shared_ptr<Calls> const& calls, HttpClientOptions options)
        : loop_(loop), calls_(calls), options_(std::move(options)), multi_(curl_multi_init()) {
        CHECK(multi_ != nullptr);
        NoSignals const none;
        thread_ = std::thread([this] { serve(); });
        ::pthread_setname_np(thread_.native_handle(), "outgoing http");
    }

    ~Thread() {
        tell(Stop{});
        thread_.join();
        for (auto const& [id, transfer] : active_)
            curl_multi_remove_handle(multi_, transfer->handle());
        active_.clear();
        curl_multi_cleanup(multi_);
    }

    struct Start {
        HttpId id;
        port::HttpRequest request;
    };
    struct Cancel {
        HttpId id;
    };
    struct Stop {};
    using Order = std::variant<Start, Cancel, Stop>;

    void tell(Order order) {
        {
            std::scoped_lock const lock(mutex_);
            orders_.push_back(std::move(order));
        }
        curl_multi_wakeup(multi_);
    }

private:
    using Instant = HttpTransfer::Instant;

    void serve() {
        while (take_orders()) {
            int running = 0;
            curl_multi_perform(multi_, &running);
            reap();
            begin_waiting();
            end_idle();
            curl_multi_poll(multi_, nullptr, 0, wait_ms(), nullptr);
        }
    }

    bool take_orders() {
        std::vector<Order> orders;
        {
            std::scoped_lock const lock(mutex_);
            orders.swap(orders_);
        }
        for (Order& order : orders) {
            if (std::holds_alternative<Stop>(order)) return false;
            if (auto* start = std::get_if<Start>(&order)) {
                enqueue(std::move(*start));
            } else {
                drop(std::get<Cancel>(order).id);
            }
            begin_waiting();
        }
        return true;
    }

    void enqueue(Start start) {
        if (waiting_.size() < options_.waiting_max) return waiting_.push_back(std::move(start));
        finish(start.id, HttpFailure{HttpFailure::Kind::overloaded,
                                     std::to_string(waiting_.size()) + " requests wait", false});
    }

    void drop(HttpId id) {
        std::erase_if(waiting_, [id](Start const& start) { return start.id == id; });
        if (auto const found = active_.find(id); found != active_.end()) {
            curl_multi_remove_handle(multi_, found->second->handle());
            active_.erase(found);
        }
    }

    void begin_waiting() {
        while (!waiting_.empty() && active_.size() < options_.active_max) {
            Start start = std::move(waiting_.front());
            waiting_.pop_front();
            begin(std::move(start));
        }
    }

    void begin(Start start) {
        HttpId const id = start.id;
        HttpTransfer::Sink sink{
            [this, id](port::HttpHead head) {
                post([id, head = std::move(head)](Calls& calls) mutable {
                    calls.head(id, std::move(head));
                });
            },
            [this, id](std::string chunk) {
                post([id, chunk = std::move(chunk)](Calls& calls) { calls.data(id, chunk); });
            }};
        auto transfer =
            std::make_unique<HttpTransfer>(std::move(start.request), options_, std::move(sink));
        if (transfer->broken()) return finish(id, transfer->broken());
        CHECK(curl_multi_add_handle(multi_, transfer->handle()) == CURLM_OK);
        active_.emplace(id, std::move(transfer));
    }

    void reap() {
        int left = 0;
        while (CURLMsg const* const message = curl_multi_info_read(multi_, &left)) {
            if (message->msg != CURLMSG_DONE) continue;
            auto const ended = std::ranges::find_if(active_, [&](auto const& entry) {
                return entry.second->handle() == message->easy_handle;
            });
            CHECK(ended != active_.end());
            end(ended->first, ended->second->verdict(message->data.result));
        }
    }

    void end_idle() {
        auto const now = std::chrono::steady_clock::now();
        std::vector<HttpId> idle;
        for (auto const& [id, transfer] : active_) {
            if (transfer->idle_end() <= now) idle.push_back(id);
        }
        for (HttpId const id : idle) end(id, active_.at(id)->idled());
    }

    void end(HttpId id, std::optional<HttpFailure> failure) {
        drop(id);
        finish(id, std::move(failure));
    }

    void finish(HttpId id, std::optional<HttpFailure> failure) {
        post([id, failure = std::move(failure)](Calls& calls) { calls.done(id, failure); });
    }

    template <class Work> void post(Work work) {
        loop_.post([calls = calls_, work = std::move(work)]() mutable {
            if (auto const alive = calls.lock()) work(*alive);
        });
    }

    // Until the first idle limit; libcurl knows its own timers.
    [[nodiscard]] int wait_ms() const {
        Instant first = std::chrono::steady_clock::now() + std::chrono::hours(1);
        for (auto const& [id, transfer] : active_) first = std::min(first, transfer->idle_end());
        auto const left = first - std::chrono::steady_clock::now();
        return static_cast<int>(
            std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0));
    }

    port::Loop& loop_;
    std::weak_ptr<Calls> const calls_;
    HttpClientOptions const options_;
    CURLM* const multi_;

    std::mutex mutex_;
    std::vector<Order> orders_;  // protected by mutex_

    // The thread's own, and the destructor's after it.
    std::deque<Start> waiting_;
    std::map<HttpId, std::unique_ptr<HttpTransfer>> active_;

    std::thread thread_;  // last: everything it uses stands before it starts
};

CurlHttpClient::CurlHttpClient(port::Loop& loop, HttpClientOptions options)
    : loop_(loop), calls_(std::make_shared<Calls>()) {
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    thread_ = std::make_unique<Thread>(loop_, calls_, std::move(options));
}

CurlHttpClient::~CurlHttpClient() {
    thread_.reset();
    curl_global_cleanup();
}

HttpId CurlHttpClient::start(port::HttpRequest request, port::HttpCallbacks callbacks) {
    HttpId const id = ++last_;
    calls_->by_id.emplace(id, std::make_shared<port::HttpCallbacks>(std::move(callbacks)));
    thread_->tell(Thread::Start{id, std::move(request)});
    return id;
}

void CurlHttpClient::cancel(HttpId id) {
    if (calls_->by_id.erase(id) > 0) thread_->tell(Thread::Cancel{id});
}

}  // namespace dormouse::io
