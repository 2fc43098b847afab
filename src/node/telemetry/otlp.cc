#include "telemetry/otlp.h"

#include "base/text/text.h"
#include "json/json.h"
#include "telemetry/otlp_write.h"

#include <algorithm>
#include <charconv>

namespace dormouse::telemetry {

namespace {

constexpr int status_error = 2;

void write_attributes(json::Writer& out, Span const& span) {
    out.key("attributes").begin_array();
    for (Attribute const& one : span.attributes)
        std::visit([&](auto const& value) { write_attribute(out, one.key, value); }, one.value);
    if (span.error) write_attribute(out, "error.type", *span.error);
    out.end_array();
}

void write_links(json::Writer& out, std::vector<Link> const& links) {
    out.key("links").begin_array();
    for (Link const& link : links) {
        out.begin_object().member("traceId", hex(link.trace)).member("spanId", hex(link.span));
        if (!link.state.empty()) out.member("traceState", link.state);
        out.key("attributes").begin_array();
        write_attribute(out, "dormouse.link", std::string(link.relation));
        out.end_array().end_object();
    }
    out.end_array();
}

}  // namespace

std::string span_json(Span const& span) {
    json::Writer out;
    out.begin_object().member("traceId", hex(span.trace)).member("spanId", hex(span.id));
    if (!span.state.empty()) out.member("traceState", span.state);
    if (span.parent != SpanId{}) out.member("parentSpanId", hex(span.parent));
    out.member("name", span.name).member("kind", static_cast<int>(span.kind));
    out.member("startTimeUnixNano", nanoseconds(span.start));
    out.member("endTimeUnixNano", nanoseconds(std::max(span.start, span.end)));
    write_attributes(out, span);
    if (!span.links.empty()) write_links(out, span.links);
    out.key("status").begin_object();
    if (span.error) out.member("code", status_error);
    if (!span.why.empty()) out.member("message", span.why);
    return out.end_object().end_object().take();
}

std::string traces_json(Resource const& resource, std::span<std::string const> spans) {
    json::Writer out;
    out.begin_object().key("resourceSpans").begin_array().begin_object();
    write_resource(out, resource);
    out.key("scopeSpans").begin_array().begin_object();
    write_scope(out, resource);
    out.key("spans").begin_array();
    for (std::string const& span : spans) out.raw(span);
    out.end_array().end_object().end_array().end_object().end_array();
    return out.end_object().take();
}

Taken read_taken(std::string_view body, std::string_view member) {
    auto const checked = json::check(body);
    if (!checked) return {};
    json::View const partial = json::View(*checked)["partialSuccess"];
    json::View const rejected = partial[member];
    Taken out{.why = partial["errorMessage"].string_or("")};
    std::string const text = rejected.string_or(std::to_string(rejected.integer_or(0)));
    std::from_chars(text.data(), text.data() + text.size(), out.rejected);
    return out;
}

}  // namespace dormouse::telemetry
