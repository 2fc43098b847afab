#include "telemetry/exporter.h"

#include <algorithm>
#include <utility>

namespace dormouse::telemetry {

namespace {

constexpr Duration first_pause{1'000};
constexpr Duration longest_pause{32'000};

// 0: no response.
bool may_be_sent_again(int status) {
    return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

Exporter::Exporter(Services services, Options options)
    : services_(services),
      options_(std::move(options)),
      collector_(services.http, options_.url, options_.headers) {
    status_.endpoint = shown_endpoint(options_.url);
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
    services_.loop.after(delay, scope_.guard([this, timer = ++timer_] {
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
    phase_ = Phase::sending;
    ++timer_;
    collector_.post(traces_json(options_.resource, spans),
                    [this](CollectorReply const& reply) { answered(reply); });
}

void Exporter::answered(CollectorReply const& reply) {
    if (reply.accepted()) return taken(reply.body);
    failed(reply);
}

void Exporter::taken(std::string const& body) {
    Taken const answer = read_taken(body);
    std::uint64_t const rejected = std::min<std::uint64_t>(answer.rejected, batch_);
    status_.exported += batch_ - rejected;
    status_.dropped += rejected;
    note_success(status_);
    attempts_ = 0;
    drop_batch();
    next();
}

void Exporter::failed(CollectorReply const& reply) {
    note_failure(status_, reply.refusal(), services_.clock.now());
    if (flushed_) return end_flush();
    Duration const delay = pause(reply.head);
    bool const again = may_be_sent_again(reply.head.status);
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
Duration Exporter::pause(port::HttpHead const& head) {
    Duration const base = std::min(first_pause * (1U << std::min(attempts_, 5U)), longest_pause);
    Duration const jitter = base * services_.entropy.random()[0] / 1024;
    auto const asked = port::retry_after(head, services_.clock.now()).value_or(Duration(0));
    return std::max(base + jitter, std::min(asked, patience_max));
}

void Exporter::flush(Duration limit, port::Fn<void()> done) {
    flushed_ = std::move(done);
    if (queue_.empty() && phase_ != Phase::sending) return end_flush();
    services_.loop.after(limit, scope_.guard([this] { end_flush(); }));
    if (phase_ != Phase::sending) send();
}

void Exporter::end_flush() {
    collector_.stop();
    if (auto done = std::exchange(flushed_, {})) done();
}

}  // namespace dormouse::telemetry
