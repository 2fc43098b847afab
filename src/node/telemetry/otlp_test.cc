#include "telemetry/otlp.h"

#include "base/text/text.h"
#include "json/json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace dormouse::telemetry {
namespace {

Span some_span() {
    Span out{.operation = "chat",
             .object = "gpt",
             .kind = SpanKind::client,
             .start = from_ms(1'000),
             .end = from_ms(2'500)};
    out.trace.back() = 0xab;
    out.id.back() = 0x01;
    return out;
}

std::string span_json(Span const& span) {
    JsonText out;
    append_span(out, span);
    return std::string(out.view());
}

TEST(SpanJson, Span_HasTheFormOfOtlp) {
    Span span = some_span();
    std::array<std::string_view, 2> const list{"x", "y"};
    span.attributes = {
        {"text", "a\"b"}, {"number", std::numeric_limits<std::int64_t>::max()}, {"list", list}};
    EXPECT_EQ(span_json(span),
              R"({"traceId":"000000000000000000000000000000ab","spanId":"0000000000000001",)"
              R"("name":"chat gpt","kind":3,"startTimeUnixNano":"1000000000",)"
              R"("endTimeUnixNano":"2500000000","attributes":[)"
              R"({"key":"text","value":{"stringValue":"a\"b"}},)"
              R"({"key":"number","value":{"intValue":"9223372036854775807"}},)"
              R"({"key":"list","value":{"arrayValue":{"values":[{"stringValue":"x"},)"
              R"({"stringValue":"y"}]}}}],"status":{}})");
}

TEST(SpanJson, ParentLinkAndError_AreWritten) {
    Span span = some_span();
    span.parent.back() = 2;
    std::array<Link, 2> const links{
        {{span.trace, span.id, "resumes"}, {span.trace, {}, "outcome", "a=1"}}};
    span.links = links;
    span.error = "429";
    span.why = "too many";
    std::string const text = span_json(span);
    auto const checked = json::check(text);
    ASSERT_TRUE(checked);
    json::View const view(*checked);
    EXPECT_EQ(view["parentSpanId"].string_or(""), "0000000000000002");
    EXPECT_EQ(view.at_pointer("/links/0/spanId").string_or(""), "0000000000000001");
    EXPECT_EQ(view.at_pointer("/links/0/attributes/0/value/stringValue").string_or(""), "resumes");
    EXPECT_EQ(view.at_pointer("/links/1/traceState").string_or(""), "a=1");
    EXPECT_EQ(view["status"]["code"].integer_or(0), 2);
    EXPECT_EQ(view["status"]["message"].string_or(""), "too many");
    EXPECT_EQ(view.at_pointer("/attributes/0/value/stringValue").string_or(""), "429");
}

TEST(SpanJson, ErrorAfterAttributes_IsAnother) {
    Span span = some_span();
    span.attributes = {{"text", "a"}};
    span.error = "";
    EXPECT_TRUE(span_json(span).ends_with(
        R"("attributes":[{"key":"text","value":{"stringValue":"a"}},)"
        R"({"key":"error.type","value":{"stringValue":""}}],"status":{"code":2}})"));
}

TEST(SpanJson, MessageWithoutError_IsWritten) {
    Span span = some_span();
    span.object = {};
    span.why = "so";
    EXPECT_TRUE(span_json(span).ends_with(R"("attributes":[],"status":{"message":"so"}})"));
    EXPECT_NE(span_json(span).find(R"("name":"chat","kind":3)"), std::string::npos);
}

TEST(SpanJson, ClockThatWentBack_EndsNotBeforeTheStart) {
    Span span = some_span();
    span.end = from_ms(1);
    EXPECT_NE(span_json(span).find(R"("endTimeUnixNano":"1000000000")"), std::string::npos);
}

TEST(SpanJson, AnyTexts_AreJson) {
    rc::check([](std::string const& name, std::string const& value) {
        Span span = some_span();
        span.object = name;
        span.why = span.state = value;
        span.attributes = {{"text", value}};
        auto const checked = json::check(traces_json({name, value, "i"}, span_json(span)));
        RC_ASSERT(checked.has_value());
        json::View const read =
            json::View(*checked).at_pointer("/resourceSpans/0/scopeSpans/0/spans/0");
        if (valid_utf8(name) && !name.empty()) RC_ASSERT(read["name"].string() == "chat " + name);
        if (valid_utf8(value))
            RC_ASSERT(read.at_pointer("/attributes/0/value/stringValue").string() == value);
    });
}

TEST(TracesJson, Spans_AreInOneScopeOfOneResource) {
    std::string const spans = span_json(some_span()) + "," + span_json(some_span());
    auto const checked = json::check(traces_json({"s", "1", "i"}, spans));
    ASSERT_TRUE(checked);
    json::View const resource = json::View(*checked)["resourceSpans"].at_pointer("/0");
    EXPECT_EQ(resource.at_pointer("/resource/attributes/0/value/stringValue").string_or(""), "s");
    EXPECT_EQ(resource.at_pointer("/scopeSpans/0/spans").size(), 2U);
    EXPECT_EQ(json::View(*json::check(traces_json({"s", "1", "i"}, "")))
                  .at_pointer("/resourceSpans/0/scopeSpans/0/spans")
                  .size(),
              0U);
}

TEST(ReadTaken, PartialSuccess_IsRead) {
    EXPECT_EQ(
        read_taken(R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}})").rejected, 3U);
    EXPECT_EQ(read_taken(R"({"partialSuccess":{"rejectedSpans":2}})").rejected, 2U);
    for (std::string const text : {"", "{}", "x", R"({"partialSuccess":{"rejectedSpans":"x"}})"})
        EXPECT_EQ(read_taken(text).rejected, 0U) << text;
}

}  // namespace
}  // namespace dormouse::telemetry
