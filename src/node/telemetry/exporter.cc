#include "telemetry/exporter.h"

#include <algorithm>
#include <utility>

namespace dormouse::telemetry {

namespace {

constexpr Duration first_pause{1'000};
constexpr Duration longest_pause{32'000};
constexpr Duration connect_limit{5'000};
constexpr std::size_t answer_bytes_max = std::size_t{64} << 10U;
constexpr std::size_t why_max = 300;

bool may_be_sent_again(int status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

std::string shown_endpoint(std::string url) {
    url.resize(std::min(url.find('?'), url.size()));
    auto const scheme = url.find("://");
    auto const at = url.find('@');
    if (scheme != std::string::npos && at != std::string::npos)
        url.erase(scheme + 3, at - scheme - 2);
    return url;
}

Exporter::Exporter(World world, Options options) : world_(world), options_(std::move(options)) {
    status_.endpoint = shown_endpoint(options_.url);
}

Exporter::~Exporter() {
    if (request_ != 0) world_.http.cancel(request_);
}

port::ExportStatus Exporter::status() const {
    port::ExportStatus out = status_;
    out.waiting = queue_.size();
    return out;
}

void Exporter::add(Span const& span) {
    std::string text = span_json(span);
    if (queue_.size() >= options_.spans_max || bytes_ + text.size() > options_.bytes_max) {
        ++status_.dropped;
        return;
    }
    bytes_ += text.size();
    queue_.push_back(std::move(text));
    if (phase_ != Phase::idle) return;
    phase_ = Phase::collecting;
    after(collect_for);
}

void Exporter::after(Duration delay) {
    world_.loop.after(delay, scope_.guard([this, timer = ++timer_] {
        if (timer == timer_) send();
    }));
}

void Exporter::send() {
    if (queue_.empty()) {
        phase_ = Phase::idle;
        return;
    }
    std::size_t bytes = 0;
    for (batch_ = 0; batch_ < std::min(queue_.size(), batch_spans); ++batch_) {
        bytes += queue_[batch_].size();
        if (batch_ > 0 && bytes > batch_bytes) break;
    }
    std::vector<std::string> const spans(queue_.begin(),
                                         queue_.begin() + static_cast<std::ptrdiff_t>(batch_));
    port::HttpRequest request;
    request.method = "POST";
    request.url = options_.url;
    request.headers = options_.headers;
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = traces_json(options_.resource, spans);
    request.connect_limit = connect_limit;
    request.idle_limit = request.total_limit = time_limit;
    request.response_max = answer_bytes_max;
    phase_ = Phase::sending;
    ++timer_;
    head_ = {};
    body_.clear();
    port::HttpCallbacks callbacks;
    callbacks.head = scope_.guard([this](port::HttpHead head) { head_ = std::move(head); });
    callbacks.data = scope_.guard([this](std::string_view chunk) { body_ += chunk; });
    callbacks.done = scope_.guard(
        [this](std::optional<port::HttpFailure> const& failure) { answered(failure); });
    request_ = world_.http.start(std::move(request), std::move(callbacks));
}

void Exporter::answered(std::optional<port::HttpFailure> const& failure) {
    request_ = 0;
    int const status = head_.status;
    if (status >= 200 && status < 300) return taken();
    if (status != 0)
        return failed("the collector answered " + std::to_string(status),
                      may_be_sent_again(status));
    failed(failure ? failure->reason : "no response", true);
}

void Exporter::taken() {
    Taken const answer = read_taken(body_);
    std::uint64_t const rejected = std::min<std::uint64_t>(answer.rejected, batch_);
    status_.exported += batch_ - rejected;
    status_.dropped += rejected;
    status_.why.clear();
    status_.failing_since.reset();
    attempts_ = 0;
    drop_batch();
    next();
}

void Exporter::failed(std::string const& why, bool again) {
    ++status_.failures;
    status_.why = why.substr(0, why_max);
    if (!status_.failing_since) status_.failing_since = world_.clock.now();
    if (flushed_) return end_flush();
    Duration const delay = pause();
    if (!again || ++attempts_ >= attempts_max) {
        status_.dropped += batch_;
        drop_batch();
        attempts_ = again ? attempts_max - 1 : 0;  // the next batch does not hurry either
    }
    batch_ = 0;
    phase_ = Phase::waiting;
    after(delay);
}

void Exporter::drop_batch() {
    for (std::size_t i = 0; i < batch_; ++i) {
        bytes_ -= queue_.front().size();
        queue_.pop_front();
    }
    batch_ = 0;
}

void Exporter::next() {
    if (queue_.empty()) {
        phase_ = Phase::idle;
        return flushed_ ? end_flush() : void();
    }
    if (flushed_ || queue_.size() >= batch_spans) return send();
    phase_ = Phase::collecting;
    after(collect_for);
}

// Twice as long after each failure, with up to a quarter more; at least what the collector asks.
Duration Exporter::pause() {
    Duration const base = std::min(first_pause * (1U << std::min(attempts_, 5U)), longest_pause);
    Duration const jitter = base * world_.entropy.random()[0] / 1024;
    auto const asked = port::retry_after(head_, world_.clock.now()).value_or(Duration(0));
    return std::max(base + jitter, std::min(asked, patience_max));
}

void Exporter::flush(Duration limit, port::Fn<void()> done) {
    flushed_ = std::move(done);
    if (queue_.empty() && phase_ != Phase::sending) return end_flush();
    world_.loop.after(limit, scope_.guard([this] { end_flush(); }));
    if (phase_ != Phase::sending) send();
}

void Exporter::end_flush() {
    if (request_ != 0) world_.http.cancel(std::exchange(request_, 0));
    if (auto done = std::exchange(flushed_, {})) done();
}

}  // namespace dormouse::telemetry
