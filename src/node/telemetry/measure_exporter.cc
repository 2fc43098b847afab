#include "telemetry/measure_exporter.h"

#include "telemetry/otlp_metrics.h"

#include <utility>

namespace dormouse::telemetry {

MeasureExporter::MeasureExporter(Services services, Options options)
    : services_(services),
      options_(std::move(options)),
      collector_(services.http, options_.url, options_.headers) {
    status_.endpoint = shown_endpoint(options_.url);
}

MeasureExporter::~MeasureExporter() { stop(); }

void MeasureExporter::start(port::MeasureSource source) {
    source_ = std::move(source);
    wait();
}

void MeasureExporter::stop() {
    phase_ = Phase::stopped;
    source_ = {};
    collector_.stop();
}

void MeasureExporter::wait() {
    phase_ = Phase::waiting;
    services_.loop.after(options_.every, scope_.guard([this] {
        if (phase_ == Phase::waiting) collect();
    }));
}

void MeasureExporter::collect() {
    phase_ = Phase::reporting;
    source_.collect(
        scope_.guard([this, report = ++report_](std::vector<port::MeasureFamily> const& families) {
            if (phase_ == Phase::reporting && report == report_) send(families);
        }));
}

void MeasureExporter::send(std::vector<port::MeasureFamily> const& families) {
    collector_.post(metrics_json(options_.resource, families, source_.start, services_.clock.now()),
                    [this](CollectorReply const& reply) { answered(reply); });
}

void MeasureExporter::answered(CollectorReply const& reply) {
    if (phase_ == Phase::stopped) return;
    reply.accepted() ? taken(reply.body) : failed(reply.refusal());
    flushed_ ? end_flush() : wait();
}

void MeasureExporter::taken(std::string const& body) {
    Taken const answer = read_taken(body, "rejectedDataPoints");
    if (answer.rejected > 0)
        return failed("the collector rejected " + std::to_string(answer.rejected) +
                      " values: " + answer.why);
    ++status_.exported;
    note_success(status_);
}

void MeasureExporter::failed(std::string const& why) {
    ++status_.dropped;
    note_failure(status_, why, services_.clock.now());
}

// A report that is under way has older values.
void MeasureExporter::flush(Duration limit, port::Fn<void()> done) {
    if (phase_ == Phase::stopped) return done();
    collector_.stop();
    flushed_ = std::move(done);
    services_.loop.after(limit, scope_.guard([this] { end_flush(); }));
    collect();
}

void MeasureExporter::end_flush() {
    stop();
    if (auto done = std::exchange(flushed_, {})) done();
}

}  // namespace dormouse::telemetry
