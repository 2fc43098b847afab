#include "oidc/fetch.h"

#include <memory>

namespace dormouse::oidc {

void fetch(port::HttpClient& client, port::HttpRequest request, std::size_t bytes_max,
           port::Fn<void(std::expected<Fetched, std::string>)> done) {
    constexpr Duration limit{10'000};
    request.connect_limit = request.idle_limit = request.total_limit = limit;
    request.response_max = bytes_max;
    request.redirects_max = 0;
    request.headers.push_back({"Accept", "application/json"});
    auto const got = std::make_shared<Fetched>();
    port::HttpCallbacks callbacks;
    callbacks.head = [got](port::HttpHead const& head) { got->status = head.status; };
    callbacks.data = [got](std::string_view chunk) { got->body += chunk; };
    callbacks.done =
        [got, done = std::move(done)](std::optional<port::HttpFailure> const& failure) mutable {
            if (failure) return done(std::unexpected(failure->reason));
            done(std::move(*got));
        };
    (void)client.start(std::move(request), std::move(callbacks));
}

}  // namespace dormouse::oidc
