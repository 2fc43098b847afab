#include "telemetry/exporter.h"

#include "runner/testing/world.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::telemetry {
namespace {

using runner::testing::TestClock;
using runner::testing::TestEntropy;
using runner::testing::TestLoop;

// Keeps requests until the test answers them.
class HeldCollector final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest request, port::HttpCallbacks callbacks) override {
        ++started;
        open.emplace_back(std::move(request), std::move(callbacks));
        return started;
    }
    void cancel(port::HttpId /*id*/) override {
        ++cancelled;
        open.clear();
    }
    void answer(std::uint16_t status, std::vector<port::HttpHeader> headers = {},
                std::string const& body = "{}") {
        for (auto& [request, callbacks] : std::exchange(open, {})) {
            callbacks.head(port::HttpHead{status, headers});
            callbacks.data(body);
            callbacks.done(std::nullopt);
        }
    }
    void refuse() {
        for (auto& [request, callbacks] : std::exchange(open, {}))
            callbacks.done(port::HttpFailure{port::HttpFailure::Kind::no_route, "refused"});
    }

    std::uint64_t started = 0;
    int cancelled = 0;
    std::vector<std::pair<port::HttpRequest, port::HttpCallbacks>> open;
};

class ExporterTest : public testing::Test {
protected:
    void add(int spans = 1) {
        for (int i = 0; i < spans; ++i) exporter.add(Span{.operation = "chat"});
    }
    void collect() { loop.advance(Exporter::collect_for); }

    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    HeldCollector http;
    Exporter exporter{{loop, clock, entropy, http},
                      {.url = "http://user:secret@collector/v1/traces?key=1", .spans_max = 1'000}};
};

TEST(Endpoint, Shown_HasNoUserNoPasswordAndNoQuery) {
    EXPECT_EQ(shown_endpoint("https://ann:p@ss@collector:1/v1?key=1"), "https://collector:1/v1");
    EXPECT_EQ(shown_endpoint("http://collector/a@b/traces#c"), "http://collector/a@b/traces");
    EXPECT_EQ(shown_endpoint("http://collector"), "http://collector");
    EXPECT_EQ(shown_endpoint("collector?key=1"), "");
}

TEST_F(ExporterTest, Spans_AreSentTogether) {
    add(3);
    EXPECT_EQ(http.started, 0U);
    collect();
    ASSERT_EQ(http.started, 1U);
    EXPECT_EQ(exporter.status().waiting, 3U);
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, 3U);
    EXPECT_EQ(exporter.status().waiting, 0U);
    EXPECT_EQ(exporter.status().endpoint, "http://collector/v1/traces");
    loop.advance(Duration(100'000));
    EXPECT_EQ(http.started, 1U);
}

TEST_F(ExporterTest, ManySpans_AreSentInBatches) {
    add(Exporter::batch_spans + 1);
    collect();
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, Exporter::batch_spans);
    collect();
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, Exporter::batch_spans + 1);
}

TEST_F(ExporterTest, LargeSpans_AreSentInSmallerBatches) {
    std::string const large(Exporter::batch_bytes * 2 / 5, 'x');
    for (int i = 0; i < 5; ++i) exporter.add(Span{.operation = "chat", .why = large});
    collect();
    EXPECT_LT(http.open.front().first.body.size(), Exporter::batch_bytes);
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, 2U);
    collect();
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, 4U);
    EXPECT_EQ(exporter.status().waiting, 1U);
}

TEST_F(ExporterTest, QueueFullOfBytes_DropsUntilABatchIsTaken) {
    std::string const large(std::size_t{3} << 20U, 'x');
    for (int i = 0; i < 3; ++i) exporter.add(Span{.operation = "chat", .why = large});
    EXPECT_EQ(exporter.status().waiting, 2U);
    EXPECT_EQ(exporter.status().dropped, 1U);
    collect();
    http.answer(200);
    exporter.add(Span{.operation = "chat", .why = large});
    EXPECT_EQ(exporter.status().waiting, 2U);
    EXPECT_EQ(exporter.status().dropped, 1U);
}

TEST_F(ExporterTest, FailedBatch_IsSentAgainAsItWas) {
    add();
    collect();
    std::string const body = http.open.front().first.body;
    http.answer(503);
    add();
    loop.advance(Duration(60'000));
    EXPECT_EQ(http.open.front().first.body, body);
    http.answer(200);
    EXPECT_EQ(exporter.status().waiting, 1U);
    collect();
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, 2U);
}

TEST_F(ExporterTest, FullQueue_DropsAndCounts) {
    add(1'005);
    EXPECT_EQ(exporter.status().waiting, 1'000U);
    EXPECT_EQ(exporter.status().dropped, 5U);
}

TEST_F(ExporterTest, Busy_IsSentAgainAsLateAsAsked) {
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{429, 502, 503, 504}) {
        add();
        collect();
        http.answer(status, {{"Retry-After", "60"}});
        EXPECT_FALSE(exporter.status().works());
        auto const before = http.started;
        loop.advance(Duration(59'000));
        EXPECT_EQ(http.started, before);
        loop.advance(Duration(2'000));
        EXPECT_EQ(http.started, before + 1);
        http.answer(200);
        EXPECT_TRUE(exporter.status().works());
    }
    EXPECT_EQ(exporter.status().dropped, 0U);
}

TEST_F(ExporterTest, Refused_IsNotSentAgain) {
    add();
    collect();
    http.answer(400);
    EXPECT_EQ(exporter.status().dropped, 1U);
    loop.advance(Duration(100'000));
    EXPECT_EQ(http.started, 1U);
    EXPECT_EQ(exporter.status().why, "the collector answered 400");
}

TEST_F(ExporterTest, Gone_IsTriedSomeTimesAndTheBatchDropped) {
    add();
    collect();
    for (std::uint32_t i = 0; i < Exporter::attempts_max; ++i) {
        ASSERT_EQ(http.open.size(), 1U) << i;
        http.refuse();
        loop.advance(Duration(60'000));
    }
    EXPECT_EQ(http.started, Exporter::attempts_max);
    EXPECT_EQ(exporter.status().dropped, 1U);
    EXPECT_EQ(exporter.status().why, "refused");
    add();
    collect();
    http.answer(200);
    EXPECT_EQ(exporter.status().exported, 1U);
}

TEST_F(ExporterTest, Rejected_IsCountedAsDropped) {
    add(3);
    collect();
    http.answer(200, {}, R"({"partialSuccess":{"rejectedSpans":"2"}})");
    EXPECT_EQ(exporter.status().exported, 1U);
    EXPECT_EQ(exporter.status().dropped, 2U);
}

TEST_F(ExporterTest, Flush_SendsAtOnce) {
    bool done = false;
    add();
    exporter.flush(Duration(1'000), [&] { done = true; });
    EXPECT_FALSE(done);
    http.answer(200);
    EXPECT_TRUE(done);
}

TEST_F(ExporterTest, FlushOfNothing_IsDone) {
    bool done = false;
    exporter.flush(Duration(1'000), [&] { done = true; });
    EXPECT_TRUE(done);
}

TEST_F(ExporterTest, FlushToOneThatHangs_EndsAtItsLimit) {
    bool done = false;
    add();
    exporter.flush(Duration(1'000), [&] { done = true; });
    loop.advance(Duration(1'000));
    EXPECT_TRUE(done);
    EXPECT_EQ(http.cancelled, 1);
}

}  // namespace
}  // namespace dormouse::telemetry
