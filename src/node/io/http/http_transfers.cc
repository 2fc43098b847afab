#include "io/http/http_transfers.h"

#include "base/check.h"
#include "io/http/http_transfer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace dormouse::io {

using port::HttpFailure;
using port::HttpId;

struct HttpTransfers::Impl {
    struct Active {
        std::unique_ptr<HttpTransfer> transfer;
        port::Fn<void(std::optional<HttpFailure>)> done;
    };

    HttpClientOptions options;
    CURLM* multi = nullptr;
    std::map<HttpId, Active> active = {};

    void end(HttpId id, std::optional<HttpFailure> failure) {
        auto ended = active.extract(id);
        curl_multi_remove_handle(multi, ended.mapped().transfer->handle());
        ended.mapped().done(std::move(failure));
    }

    void reap() {
        int left = 0;
        while (CURLMsg const* const message = curl_multi_info_read(multi, &left)) {
            if (message->msg != CURLMSG_DONE) continue;
            auto const ended = std::ranges::find_if(active, [&](auto const& entry) {
                return entry.second.transfer->handle() == message->easy_handle;
            });
            CHECK(ended != active.end());
            end(ended->first, ended->second.transfer->failure_of(message->data.result));
        }
    }

    void end_idle() {
        auto const now = std::chrono::steady_clock::now();
        std::vector<HttpId> idle;
        for (auto const& [id, each] : active) {
            if (each.transfer->idle_end() <= now) idle.push_back(id);
        }
        for (HttpId const id : idle) {
            if (auto const found = active.find(id); found != active.end())
                end(id, found->second.transfer->idled());
        }
    }

    // Returns the time until the first idle limit; libcurl has its own timers.
    [[nodiscard]] int wait_ms(Duration limit) const {
        auto const now = std::chrono::steady_clock::now();
        auto first = now + limit;
        for (auto const& [id, each] : active) first = std::min(first, each.transfer->idle_end());
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(first - now);
        return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    }
};

HttpTransfers::HttpTransfers(HttpClientOptions options)
    : impl_(std::make_unique<Impl>(Impl{.options = std::move(options)})) {
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    impl_->multi = curl_multi_init();
    CHECK(impl_->multi != nullptr);
}

HttpTransfers::~HttpTransfers() {
    for (auto const& [id, each] : impl_->active)
        curl_multi_remove_handle(impl_->multi, each.transfer->handle());
    impl_->active.clear();
    curl_multi_cleanup(impl_->multi);
    curl_global_cleanup();
}

void HttpTransfers::start(HttpId id, port::HttpRequest request, port::HttpCallbacks callbacks) {
    CHECK(callbacks.head && callbacks.data && callbacks.done && !impl_->active.contains(id));
    HttpTransfer::Sink sink{std::move(callbacks.head), std::move(callbacks.data)};
    auto transfer =
        std::make_unique<HttpTransfer>(std::move(request), impl_->options, std::move(sink));
    if (transfer->broken()) return callbacks.done(transfer->broken());
    CHECK(curl_multi_add_handle(impl_->multi, transfer->handle()) == CURLM_OK);
    impl_->active.emplace(id, Impl::Active{std::move(transfer), std::move(callbacks.done)});
}

void HttpTransfers::cancel(HttpId id) {
    auto const found = impl_->active.find(id);
    if (found == impl_->active.end()) return;
    curl_multi_remove_handle(impl_->multi, found->second.transfer->handle());
    impl_->active.erase(found);
}

std::size_t HttpTransfers::under_way() const { return impl_->active.size(); }

void HttpTransfers::turn(Duration limit, std::span<pollfd> others) {
    std::vector<curl_waitfd> other_fds;
    for (pollfd const& other : others) {
        short const events = (other.events & POLLIN) != 0 ? CURL_WAIT_POLLIN : 0;
        other_fds.push_back({other.fd, events, 0});
    }
    curl_multi_poll(impl_->multi, other_fds.data(), static_cast<unsigned>(other_fds.size()),
                    impl_->wait_ms(limit), nullptr);
    for (pollfd& other : others) other.revents = 0;
    ::poll(others.data(), others.size(), 0);  // libcurl does not report hang-ups
    int running = 0;
    curl_multi_perform(impl_->multi, &running);
    impl_->reap();
    impl_->end_idle();
}

void HttpTransfers::wake() { curl_multi_wakeup(impl_->multi); }

}  // namespace dormouse::io
