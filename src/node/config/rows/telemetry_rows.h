#pragma once
// The rows of [telemetry].

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key telemetry_rows[] = {
    text<&Telemetry::endpoint>("endpoint", url,
                               "An OpenTelemetry collector that takes OTLP/HTTP; traces go to "
                               "ENDPOINT/v1/traces. Default: OTEL_EXPORTER_OTLP_ENDPOINT, or none.")
        .like("http://127.0.0.1:4318"),
    table<&Telemetry::headers>("headers",
                               "Headers: name = \"text\" or { env, prefix }; default: "
                               "OTEL_EXPORTER_OTLP_HEADERS.")
        .like(R"({ Authorization = { env = "OTLP_TOKEN", prefix = "Bearer " } })"),
    text<&Telemetry::service>("service", some_text.sized(1, 255),
                              "The name of this service in traces; default: OTEL_SERVICE_NAME, or "
                              "dormouse."),
    number<&Telemetry::sampling_percent>("sampling_percent", {0, 100},
                                         "Percentage of turns that are traced. A prompt that comes "
                                         "with a traceparent says itself whether it is."),
    flag<&Telemetry::content>("content",
                              "true: spans have the arguments and the results of tools."),
    number<&Telemetry::queue_spans>("queue_spans", {1, many},
                                    "Spans that wait for the collector; more are dropped and "
                                    "counted."),
    number<&Telemetry::queue_bytes>("queue_bytes", {65'536, 1'073'741'824},
                                    "Bytes of spans that wait; more are dropped and counted."),
};

}  // namespace dormouse::config::rows
