#include "telemetry/measure_exporter.h"

#include "telemetry/exporter.h"
#include "telemetry/otlp_metrics.h"

#include <utility>

namespace dormouse::telemetry {

namespace {

constexpr Duration connect_time{5'000};
constexpr std::size_t reply_bytes_max = std::size_t{64} << 10U;
constexpr std::size_t reason_max = 300;

}  // namespace

MeasureExporter::MeasureExporter(World world, Options options)
    : world_(world), options_(std::move(options)) {
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
    if (request_ != 0) world_.http.cancel(std::exchange(request_, 0));
}

void MeasureExporter::wait() {
    phase_ = Phase::waiting;
    world_.loop.after(options_.every, scope_.guard([this] {
        if (phase_ == Phase::waiting) collect();
    }));
}

void MeasureExporter::collect() {
    phase_ = Phase::reporting;
    source_.collect(scope_.guard([this](std::vector<port::MeasureFamily> const& families) {
        if (phase_ == Phase::reporting) send(families);
    }));
}

void MeasureExporter::send(std::vector<port::MeasureFamily> const& families) {
    port::HttpRequest request;
    request.method = "POST";
    request.url = options_.url;
    request.headers = options_.headers;
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = metrics_json(options_.resource, families, source_.start, world_.clock.now());
    request.connect_limit = connect_time;
    request.idle_limit = request.total_limit = time_limit;
    request.response_max = reply_bytes_max;
    head_ = {};
    body_.clear();
    port::HttpCallbacks callbacks;
    callbacks.head = scope_.guard([this](port::HttpHead head) { head_ = std::move(head); });
    callbacks.data = scope_.guard([this](std::string_view chunk) { body_ += chunk; });
    callbacks.done = scope_.guard(
        [this](std::optional<port::HttpFailure> const& failure) { answered(failure); });
    request_ = world_.http.start(std::move(request), std::move(callbacks));
}

void MeasureExporter::answered(std::optional<port::HttpFailure> const& failure) {
    request_ = 0;
    if (phase_ == Phase::stopped) return;
    wait();
    int const status = head_.status;
    if (status == 0) return failed(failure ? failure->reason : "no response");
    if (status < 200 || status > 299)
        return failed("the collector answered " + std::to_string(status));
    Taken const taken = read_taken(body_, "rejectedDataPoints");
    if (taken.rejected > 0)
        return failed("the collector rejected " + std::to_string(taken.rejected) +
                      " values: " + taken.why);
    ++status_.exported;
    status_.why.clear();
    status_.failing_since.reset();
}

void MeasureExporter::failed(std::string const& why) {
    ++status_.failures;
    ++status_.dropped;
    status_.why = why.substr(0, reason_max);
    if (!status_.failing_since) status_.failing_since = world_.clock.now();
}

}  // namespace dormouse::telemetry
