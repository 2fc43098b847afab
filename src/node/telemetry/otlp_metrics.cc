#include "telemetry/otlp_metrics.h"

#include "json/json.h"
#include "telemetry/otlp_write.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

namespace dormouse::telemetry {

namespace {

using port::MeasureFamily;
using port::MeasureKind;
using port::Measurement;

constexpr int cumulative = 2;  // AggregationTemporality

struct Convention {
    std::string_view ours;
    std::string_view name;
    std::string_view unit;
};
constexpr std::array<Convention, 6> conventions{{
    {"dormouse_model_operation_seconds", "gen_ai.client.operation.duration", "s"},
    {"dormouse_model_operation_tokens", "gen_ai.client.token.usage", "{token}"},
    {"dormouse_deliveries_total", "messaging.client.sent.messages", "{message}"},
    {"process_cpu_seconds_total", "process.cpu.time", "s"},
    {"process_open_fds", "process.unix.file_descriptor.count", "{file_descriptor}"},
    {"process_resident_memory_bytes", "process.memory.usage", "By"},
}};

struct Label {
    std::string_view ours;
    std::string_view attribute;
};
constexpr std::array<Label, 10> labels{{
    {"agent", "gen_ai.agent.name"},
    {"error_type", "error.type"},
    {"method", "http.request.method"},
    {"model", "gen_ai.request.model"},
    {"operation", "gen_ai.operation.name"},
    {"provider", "gen_ai.provider.name"},
    {"request_model", "gen_ai.request.model"},
    {"route", "http.route"},
    {"token_type", "gen_ai.token.type"},
    {"tool", "gen_ai.tool.name"},
}};

// Drops the suffix; returns whether it was there.
bool drop(std::string& name, std::string_view suffix) {
    if (!name.ends_with(suffix)) return false;
    name.resize(name.size() - suffix.size());
    return true;
}

void write_times(json::Writer& out, Time start, Time now) {
    out.member("startTimeUnixNano", nanoseconds(start));
    out.member("timeUnixNano", nanoseconds(std::max(start, now)));
}

void write_point(json::Writer& out, Measurement const& one, Time start, Time now) {
    out.begin_object().key("attributes").begin_array();
    for (auto const& [label, value] : one.labels) write_attribute(out, attribute_of(label), value);
    out.end_array();
    write_times(out, start, now);
    if (auto const* const whole = std::get_if<std::uint64_t>(&one.value)) {
        out.member("asInt", std::to_string(*whole));
    } else {
        out.member("asDouble", std::get<double>(one.value));
    }
    out.end_object();
}

void write_points(json::Writer& out, MeasureFamily const& family, Time start, Time now) {
    out.key("dataPoints").begin_array();
    for (Measurement const& one : family.values) write_point(out, one, start, now);
    out.end_array();
}

// A label without a value is an attribute that does not apply.
void write_distribution(json::Writer& out, port::Distribution const& all, Time start, Time now) {
    std::uint64_t count = 0;
    for (std::uint64_t const one : all.counts) count += one;
    out.begin_object().key("attributes").begin_array();
    for (auto const& [label, value] : all.labels)
        if (!value.empty()) write_attribute(out, attribute_of(label), value);
    out.end_array();
    write_times(out, start, now);
    out.member("count", std::to_string(count)).member("sum", all.sum);
    out.key("bucketCounts").begin_array();
    for (std::uint64_t const one : all.counts) out.value(std::to_string(one));
    out.end_array().key("explicitBounds").begin_array();
    for (double const bound : all.bounds) out.value(bound);
    out.end_array().end_object();
}

void write_distributions(json::Writer& out, MeasureFamily const& family, Time start, Time now) {
    out.key("dataPoints").begin_array();
    for (port::Distribution const& one : family.distributions)
        write_distribution(out, one, start, now);
    out.end_array();
}

void write_family(json::Writer& out, MeasureFamily const& family, Time start, Time now) {
    MetricName const named = metric_name(family);
    out.begin_object().member("name", named.name).member("description", family.help);
    out.member("unit", named.unit);
    switch (family.kind) {
        case MeasureKind::counter:
            out.key("sum").begin_object();
            write_points(out, family, start, now);
            out.member("aggregationTemporality", cumulative).member("isMonotonic", true);
            break;
        case MeasureKind::gauge:
            out.key("gauge").begin_object();
            write_points(out, family, start, now);
            break;
        case MeasureKind::histogram:
            out.key("histogram").begin_object();
            write_distributions(out, family, start, now);
            out.member("aggregationTemporality", cumulative);
            break;
    }
    out.end_object().end_object();
}

}  // namespace

std::string_view attribute_of(std::string_view label) {
    auto const found = std::ranges::find(labels, label, &Label::ours);
    return found == labels.end() ? label : found->attribute;
}

MetricName metric_name(MeasureFamily const& family) {
    auto const known = std::ranges::find(conventions, family.name, &Convention::ours);
    if (known != conventions.end()) return {std::string(known->name), known->unit};
    std::string name(family.name);
    if (family.kind == MeasureKind::counter) (void)drop(name, "_total");
    if (drop(name, "_seconds")) return {std::move(name), "s"};
    if (drop(name, "_bytes")) return {std::move(name), "By"};
    return {std::move(name), "1"};
}

std::string metrics_json(Resource const& resource, std::vector<MeasureFamily> const& families,
                         Time start, Time now) {
    json::Writer out;
    out.begin_object().key("resourceMetrics").begin_array().begin_object();
    write_resource(out, resource);
    out.key("scopeMetrics").begin_array().begin_object();
    write_scope(out, resource);
    out.key("metrics").begin_array();
    for (MeasureFamily const& family : families) {
        bool const some = !family.values.empty() || !family.distributions.empty();
        if (some) write_family(out, family, start, now);
    }
    out.end_array().end_object().end_array().end_object().end_array();
    return out.end_object().take();
}

}  // namespace dormouse::telemetry
