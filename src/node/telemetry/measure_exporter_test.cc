#include "telemetry/measure_exporter.h"

#include "runner/testing/world.h"
#include "telemetry/otlp_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace dormouse::telemetry {
namespace {

using port::MeasureFamily;
using port::MeasureKind;
using runner::testing::TestClock;
using runner::testing::TestLoop;
using testing::HasSubstr;

// Keeps the requests until the test answers them.
class OneCollector final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest request, port::HttpCallbacks callbacks) override {
        ++started;
        open.emplace_back(std::move(request), std::move(callbacks));
        return started;
    }
    void cancel(port::HttpId /*id*/) override { open.clear(); }
    void answer(std::uint16_t status, std::string const& body = "{}") {
        for (auto& [request, callbacks] : std::exchange(open, {})) {
            callbacks.head(port::HttpHead{status, {}});
            callbacks.data(body);
            callbacks.done(std::nullopt);
        }
    }

    std::uint64_t started = 0;
    std::vector<std::pair<port::HttpRequest, port::HttpCallbacks>> open;
};

class MeasureExporterTest : public testing::Test {
protected:
    MeasureExporterTest() {
        exporter.start({clock.now(), [this](auto done) {
                            ++collected;
                            done({{.name = "a_total",
                                   .help = "h",
                                   .kind = MeasureKind::counter,
                                   .values = {{{}, std::uint64_t{7}}}}});
                        }});
    }
    void pass() { loop.advance(Duration(60'000)); }

    TestLoop loop;
    TestClock clock{loop};
    OneCollector http;
    int collected = 0;
    MeasureExporter exporter{{loop, clock, http}, {.url = "http://u:p@collector/v1/metrics?k=1"}};
};

TEST_F(MeasureExporterTest, Report_IsSentEachMinute) {
    EXPECT_EQ(http.started, 0U);
    pass();
    ASSERT_EQ(http.started, 1U);
    EXPECT_THAT(http.open.front().first.body, HasSubstr(R"("asInt":"7")"));
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, 1U);
    EXPECT_EQ(exporter.status().endpoint, "http://collector/v1/metrics");
    pass();
    EXPECT_EQ(http.started, 2U);
}

TEST_F(MeasureExporterTest, OpenReport_DelaysTheNext) {
    pass();
    pass();
    EXPECT_EQ(collected, 1);
    http.answer(200);
    pass();
    EXPECT_EQ(collected, 2);
}

TEST_F(MeasureExporterTest, Refusal_IsCountedAndNothingIsSentAgain) {
    pass();
    http.answer(429);
    EXPECT_EQ(exporter.status().why, "the collector answered 429");
    EXPECT_TRUE(exporter.status().failing_since.has_value());
    EXPECT_EQ(http.started, 1U);
    pass();
    http.answer(200, R"({"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"no"}})");
    EXPECT_EQ(exporter.status().why, "the collector rejected 3 values: no");
    pass();
    http.answer(200);
    EXPECT_TRUE(exporter.status().works());
    EXPECT_EQ(exporter.status().dropped, 2U);
}

TEST_F(MeasureExporterTest, Stopped_CollectsNothing) {
    pass();
    exporter.stop();
    EXPECT_TRUE(http.open.empty());
    pass();
    EXPECT_EQ(collected, 1);
}

TEST_F(MeasureExporterTest, Flush_SendsALastReport) {
    int ended = 0;
    exporter.flush(Duration(1'000), [&] { ++ended; });
    ASSERT_EQ(http.started, 1U);
    EXPECT_EQ(ended, 0);
    http.answer(200);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(exporter.status().exported, 1U);
    pass();
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(http.started, 1U);
}

TEST_F(MeasureExporterTest, FlushWithAnOpenReport_SendsANewOne) {
    pass();
    exporter.flush(Duration(1'000), [] {});
    EXPECT_EQ(collected, 2);
    EXPECT_EQ(http.open.size(), 1U);
}

TEST_F(MeasureExporterTest, HangingCollector_EndsAFlushAtItsLimit) {
    int ended = 0;
    exporter.flush(Duration(1'000), [&] { ++ended; });
    loop.advance(Duration(999));
    EXPECT_EQ(ended, 0);
    loop.advance(Duration(1));
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(http.open.empty());
}

TEST_F(MeasureExporterTest, FlushOfAStoppedOne_EndsAtOnce) {
    exporter.stop();
    int ended = 0;
    exporter.flush(Duration(1'000), [&] { ++ended; });
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(collected, 0);
}

TEST_F(MeasureExporterTest, SourceThatDoesNotAnswer_IsNotWaitedFor) {
    port::Fn<void(std::vector<MeasureFamily>)> late;
    MeasureExporter silent{{loop, clock, http}, {.url = "http://collector/v1/metrics"}};
    silent.start({clock.now(), [&](auto done) { late = std::move(done); }});
    int ended = 0;
    silent.flush(Duration(1'000), [&] { ++ended; });
    loop.advance(Duration(1'000));
    EXPECT_EQ(ended, 1);
    late({});
    EXPECT_EQ(http.started, 0U);
}

TEST(MetricName, Suffixes_BecomeTheUnit) {
    auto const named = [](std::string_view name, MeasureKind kind) {
        return metric_name({.name = name, .help = "", .kind = kind});
    };
    EXPECT_EQ(named("a_total", MeasureKind::counter), (MetricName{"a", "1"}));
    EXPECT_EQ(named("a_total", MeasureKind::gauge), (MetricName{"a_total", "1"}));
    EXPECT_EQ(named("a_bytes", MeasureKind::gauge), (MetricName{"a", "By"}));
    EXPECT_EQ(named("a_seconds", MeasureKind::histogram), (MetricName{"a", "s"}));
    EXPECT_EQ(named("process_cpu_seconds_total", MeasureKind::counter),
              (MetricName{"process.cpu.time", "s"}));
}

TEST(MetricsJson, Histogram_IsCumulative) {
    MeasureFamily const family{.name = "h",
                               .help = "",
                               .kind = MeasureKind::histogram,
                               .distributions = {{{0.5, 2}, {2, 1, 1}, 4.75}}};
    auto const text = metrics_json({"s", "1", "i"}, {family}, from_ms(1), from_ms(2));
    EXPECT_THAT(text, HasSubstr(R"("count":"4","sum":4.75,"bucketCounts":["2","1","1"],)"
                                R"("explicitBounds":[0.5,2)"));
    EXPECT_THAT(text, HasSubstr(R"("aggregationTemporality":2)"));
    EXPECT_THAT(text, HasSubstr(R"("startTimeUnixNano":"1000000","timeUnixNano":"2000000")"));
}

TEST(MetricsJson, DistributionsWithLabels_ArePoints) {
    MeasureFamily const family{
        .name = "dormouse_model_operation_seconds",
        .help = "",
        .kind = MeasureKind::histogram,
        .distributions = {{{1}, {1, 0}, 0.5, {{"operation", "chat"}, {"error_type", ""}}},
                          {{1}, {0, 1}, 2, {{"operation", "chat"}, {"error_type", "busy"}}}}};
    auto const text = metrics_json({"s", "1", "i"}, {family}, from_ms(1), from_ms(2));
    EXPECT_THAT(text, HasSubstr(R"("name":"gen_ai.client.operation.duration")"));
    EXPECT_THAT(text, HasSubstr(R"({"attributes":[{"key":"gen_ai.operation.name",)"
                                R"("value":{"stringValue":"chat"}}],"startTimeUnixNano")"));
    EXPECT_THAT(text, HasSubstr(R"({"key":"error.type","value":{"stringValue":"busy"}}])"));
}

}  // namespace
}  // namespace dormouse::telemetry
