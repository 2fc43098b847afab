#pragma once
// [telemetry], or the variables of OpenTelemetry in its place: traces of the server's sessions and
// the server's metrics, sent to a collector.

#include "config/config.h"
#include "runtime/node.h"
#include "serve/serving.h"
#include "telemetry/exporter.h"
#include "telemetry/measure_exporter.h"
#include "telemetry/tracer.h"

#include <memory>

namespace dormouse::app {

// Errors: bad_value, of a variable.
[[nodiscard]] Result<void> check_telemetry(config::Config const& config);
[[nodiscard]] session::TraceRules trace_rules(config::Config const& config);

// The model of an agent, as its provider names it.
[[nodiscard]] telemetry::ModelName model_name(config::Config const& config,
                                              std::string const& agent);

// On the loop.
class Telemetry {
public:
    // Null: no collector is configured. Everything outlives it; `config` may change.
    [[nodiscard]] static std::unique_ptr<Telemetry> of(config::Config const& config,
                                                       runtime::NodeServices& services,
                                                       port::Journal& journal);
    // This outlives what is made of the settings.
    void attach_to(serve::ServingSettings& settings);

private:
    Telemetry(config::Config const& config, runtime::NodeServices& services, port::Journal& journal,
              telemetry::Resource const& resource);
    void attempted(webhook::Attempt const& attempt);

    // Sends what is left; then, or at the latest after twice the limit, calls `then`.
    void end(port::Fn<void()> then);

    static constexpr Duration flush_limit{1'000};  // of spans, and of metrics

    port::Clock const& clock_;
    session::TraceRules const rules_;
    telemetry::Exporter exporter_;
    telemetry::Tracer tracer_;
    std::unique_ptr<telemetry::MeasureExporter> const measures_;  // null: metrics are not sent
};

}  // namespace dormouse::app
