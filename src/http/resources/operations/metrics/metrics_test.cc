#include "http/resources/operations/metrics/metrics.h"

#include "runner/lane/counted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace dormouse::http {
namespace {

using ::testing::HasSubstr;
using namespace session;

TEST(Exposition, ControlBytes_AreEscapedOrDropped) {
    Exposition out;
    out.gauge("a_b", "help").sample(std::uint64_t{7}, {{"x", "q\"b\\n\nc\rd\xff"}});
    EXPECT_EQ(prometheus_text(out.take()),
              "# HELP a_b help\n# TYPE a_b gauge\na_b{x=\"q\\\"b\\\\n\\nc?d?\"} 7\n");
}

TEST(Exposition, Histogram_IsCumulativeWithInclusiveBounds) {
    static constexpr std::array<double, 2> bounds{0.5, 2};
    Histogram histogram(bounds);
    for (double const value : {0.25, 0.5, 1.0, 3.0}) histogram.observe(value);
    Exposition out;
    out.histogram("h", "help", histogram);
    EXPECT_EQ(prometheus_text(out.take()),
              "# HELP h help\n# TYPE h histogram\nh_bucket{le=\"0.5\"} 2\nh_bucket{le=\"2\"} 3\n"
              "h_bucket{le=\"+Inf\"} 4\nh_sum 4.75\nh_count 4\n");
}

TEST(Exposition, HistogramFamily_HasALineForEachLabelSet) {
    static constexpr std::array<double, 1> bounds{1};
    HistogramFamily family(bounds);
    family.observe(0.5, {{"of", "a"}});
    family.observe(3, {{"of", "b"}});
    family.observe(1, {{"of", "a"}});
    Exposition out;
    out.histogram("h", "help", family);
    EXPECT_EQ(prometheus_text(out.take()),
              "# HELP h help\n# TYPE h histogram\n"
              "h_bucket{of=\"a\",le=\"1\"} 2\nh_bucket{of=\"a\",le=\"+Inf\"} 2\n"
              "h_sum{of=\"a\"} 1.5\nh_count{of=\"a\"} 2\n"
              "h_bucket{of=\"b\",le=\"1\"} 0\nh_bucket{of=\"b\",le=\"+Inf\"} 1\n"
              "h_sum{of=\"b\"} 3\nh_count{of=\"b\"} 1\n");
}

TEST(HistogramFamily, LabelsBeyondTheLimit_AreOneSeries) {
    static constexpr std::array<double, 1> bounds{1};
    HistogramFamily family(bounds);
    std::size_t const more = 50;
    for (std::size_t i = 0; i < HistogramFamily::series_max + more; ++i)
        family.observe(1, {{"of", std::to_string(i)}, {"too", std::string(10'000, 'x')}});
    family.observe(1, {{"of", "0"}, {"too", std::string(10'000, 'x')}});
    ASSERT_EQ(family.series().size(), HistogramFamily::series_max + 1);
    auto const other = family.series().find({{"of", "other"}, {"too", "other"}});
    ASSERT_NE(other, family.series().end());
    EXPECT_EQ(other->second.in()[0], more);
    auto const first = family.series().find({{"of", "0"}, {"too", std::string(200, 'x')}});
    ASSERT_NE(first, family.series().end());
    EXPECT_EQ(first->second.in()[0], 2U);
}

struct DirectJournal final : port::Journal {
    std::vector<port::AppendResult> results;
    void commit(std::vector<port::Append>,
                port::Fn<void(std::vector<port::AppendResult>)> done) override {
        done(results);
    }
    void write(port::Fn<Result<void>(port::Store&)>, port::Fn<void(Result<void>)> done) override {
        done({});
    }
    void read(port::ReadKey, port::Fn<void(port::Store&)>, port::Fn<void()> done) override {
        done();
    }
};

struct StillClock final : port::Clock {
    [[nodiscard]] Time now() const override { return from_ms(0); }
    [[nodiscard]] Duration monotonic() const override { return Duration(0); }
};

TEST(CountedJournal, StoreFailure_IsReportedMovedHeadIsNot) {
    DirectJournal direct;
    StillClock const clock;
    Metrics metrics{from_ms(0)};
    std::vector<Code> codes;
    runner::CountedJournal journal(direct, clock);
    journal.count_by(&metrics);
    journal.on_failed([&](Error const& error) { codes.push_back(error.code); });
    std::size_t passed = 0;
    auto const commit = [&](std::vector<port::AppendResult> results) {
        direct.results = std::move(results);
        journal.commit({}, [&](std::vector<port::AppendResult> back) { passed += back.size(); });
    };
    commit({{}, fail(Code::conflict, "a key is taken")});
    commit({port::moved(SessionId::make(1, {}))});
    EXPECT_TRUE(codes.empty());
    commit({fail(Code::store_full, "no room"), fail(Code::store_full, "no room")});
    EXPECT_EQ(codes, std::vector{Code::store_full});
    EXPECT_EQ(passed, 5u);
}

}  // namespace
}  // namespace dormouse::http
