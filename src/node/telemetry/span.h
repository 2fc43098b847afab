#pragma once
// Spans of OpenTelemetry as plain values. The numbers of enumerators are those of OTLP.

#include <dormouse/time.h>

#include "session/tracing.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dormouse::telemetry {

using session::SpanId;
using session::TraceId;

enum class SpanKind : std::uint8_t { internal = 1, client = 3, producer = 4 };

struct Attribute {
    std::string_view key;  // plain: nothing in it must be escaped
    std::variant<std::string_view, std::int64_t, std::span<std::string_view const>> value;
};

// `relation`: why it is linked, as the attribute dormouse.link.
struct Link {
    TraceId trace{};
    SpanId span{};
    std::string_view relation;
    std::string state = {};  // tracestate
};

// Its texts belong to others: it is valid during the call that gets it.
struct Span {
    TraceId trace{};
    SpanId id{};
    SpanId parent{};               // all zero: none
    std::string_view operation;    // its name begins with it
    std::string_view object = {};  // the rest of its name, after a space; may be empty
    SpanKind kind = SpanKind::internal;
    Time start{};
    Time end{};
    std::vector<Attribute> attributes = {};
    std::span<Link const> links = {};
    std::optional<std::string_view> error = {};  // error.type; nullopt: it succeeded
    std::string_view why = {};                   // the status's message
    std::string_view state = {};                 // tracestate
};

using SpanSink = std::function<void(Span const&)>;

}  // namespace dormouse::telemetry
