#include "mcp_client/fetch.h"

#include "base/check.h"

#include <memory>
#include <utility>

namespace dormouse::mcp_client {

Fetches::~Fetches() {
    scope_.end();
    for (port::HttpId const id : sent_) client_.cancel(id);
}

void Fetches::send(port::HttpRequest request, Done done) {
    struct Got {
        port::HttpId id = 0;
        std::uint16_t status = 0;
        std::string body = {};
    };
    request.connect_limit = request.idle_limit = request.total_limit = limit;
    request.response_max = answer_max;
    auto const got = std::make_shared<Got>();
    port::HttpCallbacks callbacks;
    callbacks.head = [got](port::HttpHead const& head) { got->status = head.status; };
    callbacks.data = [got](std::string_view chunk) { got->body += chunk; };
    callbacks.done = scope_.guard(
        [this, got, done = std::move(done)](std::optional<port::HttpFailure> const& failure) {
            sent_.erase(got->id);
            if (failure) return done(std::unexpected(failure->reason));
            auto body = json::check(got->body);
            if (!body && got->status == 200) return done(std::unexpected("no JSON"));
            done(Answer{got->status, body ? *std::move(body) : Json()});
        });
    got->id = client_.start(std::move(request), std::move(callbacks));
    sent_.insert(got->id);
}

void Fetches::first_of(std::vector<std::string> urls, Done done) {
    CHECK(!urls.empty());
    port::HttpRequest request{.url = urls.front()};
    request.headers = {{"Accept", "application/json"}};
    urls.erase(urls.begin());
    auto then = [this, urls = std::move(urls),
                 done = std::move(done)](std::expected<Answer, std::string> const& answer) {
        bool const found = answer && answer->status == 200;
        if (found) return done(*answer);
        if (!urls.empty()) return first_of(urls, done);
        done(std::unexpected(answer ? "status " + std::to_string(answer->status) : answer.error()));
    };
    send(std::move(request), std::move(then));
}

}  // namespace dormouse::mcp_client
