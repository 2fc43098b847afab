#pragma once
// Sends all metrics to a collector by OTLP/HTTP, at an interval. Values are cumulative: a report
// that is lost is made good by the next one, so nothing waits, and nothing is sent again. The last
// one is sent at the end. On the loop.

#include "base/scope.h"
#include "port/exports.h"
#include "port/http.h"
#include "port/measure.h"
#include "telemetry/collector.h"
#include "telemetry/otlp.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dormouse::telemetry {

class MeasureExporter {
public:
    struct Services {
        port::Loop& loop;
        port::Clock const& clock;
        port::HttpClient& http;
    };
    struct Options {
        std::string url;  // of the metrics
        std::vector<port::HttpHeader> headers = {};
        Resource resource = {};
        Duration every{60'000};
    };
    // Everything in `services` outlives this.
    MeasureExporter(Services services, Options options);
    ~MeasureExporter();
    MeasureExporter(MeasureExporter const&) = delete;
    MeasureExporter& operator=(MeasureExporter const&) = delete;

    // Sends the first report when the interval has passed. `source` lasts until stop().
    void start(port::MeasureSource source);
    void stop();
    // Sends a last report; then, or after `limit`, stops and calls `done`.
    void flush(Duration limit, port::Fn<void()> done);
    [[nodiscard]] port::ExportStatus status() const { return status_; }

private:
    // The phase of the export: a report that is being collected or sent delays the next one.
    enum class Phase : std::uint8_t { stopped, waiting, reporting };

    void wait();
    void collect();
    void send(std::vector<port::MeasureFamily> const& families);
    void answered(CollectorReply const& reply);
    void taken(std::string const& body);
    void failed(std::string const& why);
    void end_flush();

    Services services_;
    Options options_;
    Collector collector_;
    port::MeasureSource source_ = {};
    port::ExportStatus status_;
    Phase phase_ = Phase::stopped;
    std::uint64_t report_ = 0;       // the newest; what is collected for older ones is not sent
    port::Fn<void()> flushed_ = {};  // set: the process ends
    Scope scope_;
};

}  // namespace dormouse::telemetry
