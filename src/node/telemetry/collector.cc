#include "telemetry/collector.h"

#include "base/check.h"
#include "base/url.h"

#include <optional>
#include <utility>

namespace dormouse::telemetry {

namespace {

constexpr Duration connect_limit{5'000};
constexpr std::size_t reply_bytes_max = std::size_t{64} << 10U;
constexpr std::size_t why_max = 300;

}  // namespace

std::string shown_endpoint(std::string_view url) {
    auto const parts = split_url(url);
    if (!parts) return {};
    auto const host = parts->authority.substr(parts->authority.rfind('@') + 1);
    auto const path = parts->target.substr(0, parts->target.find_first_of("?#"));
    return std::string(parts->scheme).append("://").append(host).append(path);
}

std::string CollectorReply::refusal() const {
    CHECK(!accepted());
    return head.status == 0 ? failure : "the collector answered " + std::to_string(head.status);
}

Collector::Collector(port::HttpClient& http, std::string url, std::vector<port::HttpHeader> headers)
    : http_(http), url_(std::move(url)), headers_(std::move(headers)) {
    headers_.push_back({"Content-Type", "application/json"});
}

void Collector::post(std::string body, Done done) {
    CHECK(request_ == 0);
    port::HttpRequest request;
    request.method = "POST";
    request.url = url_;
    request.headers = headers_;
    request.body = std::move(body);
    request.connect_limit = connect_limit;
    request.idle_limit = request.total_limit = time_limit;
    request.response_max = reply_bytes_max;
    reply_ = {};
    port::HttpCallbacks callbacks;
    callbacks.head = scope_.guard([this](port::HttpHead head) { reply_.head = std::move(head); });
    callbacks.data = scope_.guard([this](std::string_view chunk) { reply_.body += chunk; });
    callbacks.done = scope_.guard(
        [this, done = std::move(done)](std::optional<port::HttpFailure> const& failure) mutable {
            request_ = 0;
            reply_.failure = failure ? failure->reason : "no response";
            auto const reply = std::exchange(reply_, {});
            done(reply);
        });
    request_ = http_.start(std::move(request), std::move(callbacks));
}

void Collector::stop() {
    if (request_ != 0) http_.cancel(std::exchange(request_, 0));
}

void note_success(port::ExportStatus& status) {
    status.why.clear();
    status.failing_since.reset();
}

void note_failure(port::ExportStatus& status, std::string_view why, Time now) {
    ++status.failures;
    status.why = why.substr(0, why_max);
    if (!status.failing_since) status.failing_since = now;
}

}  // namespace dormouse::telemetry
