#pragma once
// Sends spans to a collector by OTLP/HTTP. Nothing waits for it: spans wait in a bounded queue, and
// those that do not fit are dropped and counted. One request at a time; after 429, 502, 503, 504 or
// no response it is sent again with back-off, and Retry-After is respected. On the loop.

#include "base/scope.h"
#include "port/exports.h"
#include "port/http.h"
#include "telemetry/collector.h"
#include "telemetry/otlp.h"

#include <deque>
#include <string>
#include <vector>

namespace dormouse::telemetry {

class Exporter {
public:
    struct Services {
        port::Loop& loop;
        port::Clock const& clock;
        port::Entropy& entropy;
        port::HttpClient& http;
    };
    struct Options {
        std::string url;  // of the traces
        std::vector<port::HttpHeader> headers = {};
        Resource resource = {};
        std::size_t spans_max = 8'192;
        std::size_t bytes_max = std::size_t{8} << 20U;
    };
    // Everything in `services` outlives this.
    Exporter(Services services, Options options);
    ~Exporter() = default;
    Exporter(Exporter const&) = delete;
    Exporter& operator=(Exporter const&) = delete;

    void add(Span const& span);
    // Spans that were lost before they could be added.
    void lost(std::uint64_t spans) { status_.dropped += spans; }
    // Sends what waits at once and once more at most; then, or after `limit`, calls `done`.
    void flush(Duration limit, port::Fn<void()> done);
    [[nodiscard]] port::ExportStatus status() const;

    static constexpr Duration collect_for{1'000};
    static constexpr std::size_t batch_spans = 512;
    static constexpr std::size_t batch_bytes = std::size_t{1} << 20U;
    static constexpr std::uint32_t attempts_max = 6;  // of one batch
    static constexpr Duration patience_max{300'000};  // the longest Retry-After that is respected

private:
    enum class Phase : std::uint8_t { idle, collecting, sending, waiting };

    // The body of one request, in the making until it is sent first.
    struct Batch {
        std::string text = {};  // its spans, with commas between them
        std::size_t spans = 0;
        bool sent = false;
    };

    [[nodiscard]] Batch& batch_for(std::size_t bytes);
    void after(Duration delay);
    void send();
    void answered(CollectorReply const& reply);
    void taken(std::string const& body);
    void failed(CollectorReply const& reply);
    void drop_batch();
    void next();
    [[nodiscard]] Duration pause(port::HttpHead const& head);
    void end_flush();

    Services services_;
    Options options_;
    Collector collector_;
    port::ExportStatus status_;
    std::deque<Batch> queue_;  // its first one is sent
    std::size_t spans_ = 0;    // in `queue_`
    std::size_t bytes_ = 0;    // of their texts
    JsonText span_ = {};       // the newest, while it is written
    std::string spare_ = {};   // memory for the next batch
    std::uint32_t attempts_ = 0;
    Phase phase_ = Phase::idle;
    std::uint64_t timer_ = 0;        // the newest; older ones do nothing
    port::Fn<void()> flushed_ = {};  // set: the process ends
    Scope scope_;
};

}  // namespace dormouse::telemetry
