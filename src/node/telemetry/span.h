#pragma once
// Spans of OpenTelemetry as plain values. The numbers of enumerators are those of OTLP.

#include <dormouse/time.h>

#include "session/tracing.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dormouse::telemetry {

using session::SpanId;
using session::TraceId;

enum class SpanKind : std::uint8_t { internal = 1, client = 3, producer = 4 };

struct Attribute {
    std::string_view key;  // of a constant
    std::variant<std::string, std::int64_t, bool, std::vector<std::string>> value;
    friend bool operator==(Attribute const&, Attribute const&) = default;
};

// `relation`: why it is linked, as the attribute dormouse.link.
struct Link {
    TraceId trace{};
    SpanId span{};
    std::string_view relation;
    std::string state = {};  // tracestate
    friend bool operator==(Link const&, Link const&) = default;
};

struct Span {
    TraceId trace{};
    SpanId id{};
    SpanId parent{};  // all zero: none
    std::string name;
    SpanKind kind = SpanKind::internal;
    Time start{};
    Time end{};
    std::vector<Attribute> attributes = {};
    std::vector<Link> links = {};
    std::optional<std::string> error = {};  // error.type; nullopt: it succeeded
    std::string why = {};                   // the status's message
    std::string state = {};                 // tracestate
    friend bool operator==(Span const&, Span const&) = default;
};

}  // namespace dormouse::telemetry
