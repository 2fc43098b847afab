#include "io/http/http_client.h"

#include "io/process/no_signals.h"

#include <pthread.h>

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::io {

using port::HttpFailure;
using port::HttpId;

// On the loop only. What the thread posts holds a weak reference: after the client is gone it does
// nothing.
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
        : loop_(loop),
          calls_(calls),
          active_max_(options.active_max),
          waiting_max_(options.waiting_max),
          transfers_(std::move(options)) {
        NoSignals const none;
        thread_ = std::thread([this] { serve(); });
        ::pthread_setname_np(thread_.native_handle(), "outgoing http");
    }

    ~Thread() {
        send(Stop{});
        thread_.join();
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

    void send(Order order) {
        {
            std::scoped_lock const lock(mutex_);
            orders_.push_back(std::move(order));
        }
        transfers_.wake();
    }

private:
    void serve() {
        while (take_orders()) {
            transfers_.turn(std::chrono::hours(1));
            begin_waiting();
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
                HttpId const id = std::get<Cancel>(order).id;
                std::erase_if(waiting_, [id](Start const& each) { return each.id == id; });
                transfers_.cancel(id);
            }
            begin_waiting();
        }
        return true;
    }

    void enqueue(Start start) {
        if (waiting_.size() < waiting_max_) return waiting_.push_back(std::move(start));
        finish(start.id, HttpFailure{HttpFailure::Kind::overloaded,
                                     std::to_string(waiting_.size()) + " requests wait", false});
    }

    void begin_waiting() {
        while (!waiting_.empty() && transfers_.under_way() < active_max_) {
            Start start = std::move(waiting_.front());
            waiting_.pop_front();
            if (start.request.may_start && !start.request.may_start()) {
                finish(start.id, HttpFailure{HttpFailure::Kind::overloaded,
                                             "it was queued until it must not be sent", false});
                continue;
            }
            transfers_.start(start.id, std::move(start.request), callbacks_of(start.id));
        }
    }

    port::HttpCallbacks callbacks_of(HttpId id) {
        return {[this, id](port::HttpHead head) {
                    post([id, head = std::move(head)](Calls& calls) mutable {
                        calls.head(id, std::move(head));
                    });
                },
                [this, id](std::string_view chunk) {
                    post([id, chunk = std::string(chunk)](Calls& calls) { calls.data(id, chunk); });
                },
                [this, id](std::optional<HttpFailure> failure) { finish(id, std::move(failure)); }};
    }

    void finish(HttpId id, std::optional<HttpFailure> failure) {
        post([id, failure = std::move(failure)](Calls& calls) { calls.done(id, failure); });
    }

    template <class Work> void post(Work work) {
        loop_.post([calls = calls_, work = std::move(work)]() mutable {
            if (auto const alive = calls.lock()) work(*alive);
        });
    }

    port::Loop& loop_;
    std::weak_ptr<Calls> const calls_;
    std::size_t const active_max_;
    std::size_t const waiting_max_;

    std::mutex mutex_;
    std::vector<Order> orders_;  // protected by mutex_

    // Used by the thread only, except wake(), and by the destructor after the thread.
    std::deque<Start> waiting_;
    HttpTransfers transfers_;

    std::thread thread_;  // last member: started after everything it uses
};

CurlHttpClient::CurlHttpClient(port::Loop& loop, HttpClientOptions options)
    : loop_(loop),
      calls_(std::make_shared<Calls>()),
      thread_(std::make_unique<Thread>(loop_, calls_, std::move(options))) {}

CurlHttpClient::~CurlHttpClient() = default;

HttpId CurlHttpClient::start(port::HttpRequest request, port::HttpCallbacks callbacks) {
    HttpId const id = ++last_;
    calls_->by_id.emplace(id, std::make_shared<port::HttpCallbacks>(std::move(callbacks)));
    thread_->send(Thread::Start{id, std::move(request)});
    return id;
}

void CurlHttpClient::cancel(HttpId id) {
    if (calls_->by_id.erase(id) > 0) thread_->send(Thread::Cancel{id});
}

}  // namespace dormouse::io
