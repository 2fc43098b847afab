#pragma once
// OTLP in its JSON encoding: ids are hex, 64-bit integers are strings, enumerators are numbers.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Pure.

#include "telemetry/json_text.h"
#include "telemetry/span.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::telemetry {

// The attributes of the process that sends.
struct Resource {
    std::string service;
    std::string version;
    std::string instance;
};

// Appends one element of `spans`.
void append_span(JsonText& out, Span const& span);
// The body of a request: an ExportTraceServiceRequest. `spans`: elements with commas between them.
[[nodiscard]] std::string traces_json(Resource const& resource, std::string_view spans);

// The collector's answer to a request that it accepted.
struct Taken {
    std::uint64_t rejected = 0;
    std::string why = {};
};
// `member` holds how many were rejected. A body that cannot be read rejects nothing.
[[nodiscard]] Taken read_taken(std::string_view body, std::string_view member = "rejectedSpans");

}  // namespace dormouse::telemetry
