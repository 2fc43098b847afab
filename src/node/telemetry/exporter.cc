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
    out.waiting = spans_;
    return out;
}

void Exporter::add(Span const& span) {
    if (span_.capacity() > batch_bytes) span_.reset();
    span_.clear();
    if (spans_ < options_.spans_max) append_span(span_, span);
    std::string_view const text = span_.view();
    if (text.empty() || bytes_ + text.size() > options_.bytes_max) {
        ++status_.dropped;
        return;
    }
    Batch& batch = batch_for(text.size());
    if (batch.spans++ > 0) batch.text += ',';
    batch.text += text;
    ++spans_;
    bytes_ += text.size();
    if (phase_ != Phase::idle) return;
    phase_ = Phase::collecting;
    after(collect_for);
}

// A batch that was sent before is sent again as it was.
Exporter::Batch& Exporter::batch_for(std::size_t bytes) {
    bool const full = queue_.empty() || queue_.back().sent || queue_.back().spans >= batch_spans ||
                      queue_.back().text.size() + bytes > batch_bytes;
    if (full) queue_.push_back({.text = std::exchange(spare_, {})});
    return queue_.back();
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
    Batch& batch = queue_.front();
    batch.sent = true;
    phase_ = Phase::sending;
    ++timer_;
    collector_.post(traces_json(options_.resource, batch.text),
                    [this](CollectorReply const& reply) { answered(reply); });
}

void Exporter::answered(CollectorReply const& reply) {
    if (reply.accepted()) return taken(reply.body);
    failed(reply);
}

void Exporter::taken(std::string const& body) {
    Taken const answer = read_taken(body);
    std::uint64_t const rejected = std::min<std::uint64_t>(answer.rejected, queue_.front().spans);
    status_.exported += queue_.front().spans - rejected;
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
        status_.dropped += queue_.front().spans;
        drop_batch();
        attempts_ = again ? attempts_max - 1 : 0;  // the next batch does not hurry either
    }
    phase_ = Phase::waiting;
    after(delay);
}

void Exporter::drop_batch() {
    Batch& batch = queue_.front();
    spans_ -= batch.spans;
    bytes_ -= batch.text.size() - (batch.spans - 1);  // without the commas
    if (batch.text.capacity() <= 2 * batch_bytes) spare_ = std::move(batch.text);
    spare_.clear();
    queue_.pop_front();
}

void Exporter::next() {
    if (queue_.empty()) {
        phase_ = Phase::idle;
        return flushed_ ? end_flush() : void();
    }
    if (flushed_ || spans_ >= batch_spans) return send();
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
