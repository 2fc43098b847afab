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
                               .distribution = {{0.5, 2}, {2, 1, 1}, 4.75}};
    auto const text = metrics_json({"s", "1", "i"}, {family}, from_ms(1), from_ms(2));
    EXPECT_THAT(text, HasSubstr(R"("count":"4","sum":4.75,"bucketCounts":["2","1","1"],)"
                                R"("explicitBounds":[0.5,2)"));
    EXPECT_THAT(text, HasSubstr(R"("aggregationTemporality":2)"));
    EXPECT_THAT(text, HasSubstr(R"("startTimeUnixNano":"1000000","timeUnixNano":"2000000")"));
}

}  // namespace
}  // namespace dormouse::telemetry
