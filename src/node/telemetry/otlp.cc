#include "telemetry/otlp.h"

#include "json/json.h"
#include "telemetry/otlp_write.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

namespace dormouse::telemetry {

namespace {

struct AttributeAppender {
    JsonText& out;
    std::string_view key;

    void operator()(std::string_view text) const {
        if (json::is_plain(text)) [[likely]] {
            out.add(R"({"key":")", key, R"(","value":{"stringValue":")", text, R"("}})");
        } else {
            out.add(R"({"key":")", key, R"(","value":{"stringValue":)").add_string(text).add("}}");
        }
    }
    void operator()(std::int64_t number) const {
        out.add(R"({"key":")", key, R"(","value":{"intValue":")").add_number(number).add(R"("}})");
    }
    void operator()(std::span<std::string_view const> texts) const {
        out.add(R"({"key":")", key, R"(","value":{"arrayValue":{"values":[)");
        for (std::string_view const& text : texts) {
            if (&text != texts.data()) out.add(",");
            out.add(R"({"stringValue":)").add_string(text).add("}");
        }
        out.add("]}}}");
    }
};

void append_attribute(JsonText& out, Attribute const& attribute) {
    std::visit(AttributeAppender{out, attribute.key}, attribute.value);
}

void append_attributes(JsonText& out, Span const& span) {
    out.add(R"(,"attributes":[)");
    for (Attribute const& attribute : span.attributes) {
        append_attribute(out, attribute);
        out.add(",");
    }
    if (span.error)
        append_attribute(out, {"error.type", *span.error});
    else if (!span.attributes.empty())
        out.remove_last();
    out.add("]");
}

void append_links(JsonText& out, std::span<Link const> links) {
    out.add(R"(,"links":[)");
    for (Link const& link : links) {
        out.add(R"({"traceId":")").add_hex(link.trace);
        out.add(R"(","spanId":")").add_hex(link.span).add("\"");
        if (!link.state.empty()) out.add(R"(,"traceState":)").add_string(link.state);
        out.add(R"(,"attributes":[)");
        append_attribute(out, {"dormouse.link", link.relation});
        out.add("]},");
    }
    out.replace_last(']');
}

void append_name(JsonText& out, Span const& span) {
    out.add(R"(,"name":)");
    if (span.object.empty()) {
        out.add_string(span.operation);
    } else if (json::is_plain(span.operation) && json::is_plain(span.object)) {
        out.add("\"", span.operation, " ", span.object, "\"");
    } else {
        out.add_string(std::string(span.operation).append(" ").append(span.object));
    }
}

void append_status(JsonText& out, Span const& span) {
    if (!span.error && span.why.empty()) {
        out.add(R"(,"status":{}})");
        return;
    }
    out.add(R"(,"status":{)");
    if (span.error) out.add(R"("code":2,)");
    if (!span.why.empty()) out.add(R"("message":)").add_string(span.why).add(",");
    out.replace_last('}');
    out.add("}");
}

}  // namespace

void append_span(JsonText& out, Span const& span) {
    out.add(R"({"traceId":")").add_hex(span.trace);
    out.add(R"(","spanId":")").add_hex(span.id).add("\"");
    if (!span.state.empty()) out.add(R"(,"traceState":)").add_string(span.state);
    if (span.parent != SpanId{}) out.add(R"(,"parentSpanId":")").add_hex(span.parent).add("\"");
    append_name(out, span);
    out.add(R"(,"kind":)").add_number(static_cast<int>(span.kind));
    out.add(R"(,"startTimeUnixNano":")").add_number(to_ms(span.start));
    out.add(R"(000000","endTimeUnixNano":")").add_number(to_ms(std::max(span.start, span.end)));
    out.add("000000\"");
    append_attributes(out, span);
    if (!span.links.empty()) append_links(out, span.links);
    append_status(out, span);
}

std::string traces_json(Resource const& resource, std::string_view spans) {
    constexpr std::string_view end = "]}]}]}";
    json::Writer out;
    out.begin_object().key("resourceSpans").begin_array().begin_object();
    write_resource(out, resource);
    out.key("scopeSpans").begin_array().begin_object();
    write_scope(out, resource);
    out.key("spans").begin_array();
    out.end_array().end_object().end_array().end_object().end_array();
    std::string text = out.end_object().take();
    text.reserve(text.size() + spans.size());
    text.insert(text.size() - end.size(), spans);
    return text;
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
