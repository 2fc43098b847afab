#include "cli/render/timeline.h"

#include "base/text/width.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

namespace dormouse::cli {
namespace {

constexpr std::int64_t now = 1'795'420'000'000;

std::string file(std::string const& name) {
    std::ifstream in(std::string(DORMOUSE_TIMELINES) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

Timeline folded(std::string_view journal, std::size_t events = 10'000) {
    TimelineFold fold;
    std::size_t seen = 0;
    json::View(journal)["items"].elements([&](json::View event) {
        if (seen++ < events) fold.add(event);
    });
    return fold.done(now);
}

class TimelineText : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("TZ", "UTC", 1);  // NOLINT(concurrency-mt-unsafe): no other thread
        ::tzset();
    }
};

// The files are those that web/test/timeline-text.test.ts compares with.
TEST_F(TimelineText, RecordedSessions_AreDrawnAsThePageDrawsThem) {
    for (std::string const name : {"approve", "crash", "ledger"}) {
        auto const line = folded(file(name + ".json"));
        for (std::size_t const columns : {60U, 80U, 132U}) {
            auto const expected = file(name + "." + std::to_string(columns) + ".txt");
            ASSERT_FALSE(expected.empty());
            EXPECT_EQ(timeline_text(line, "The " + name + " session", columns, {}), expected);
        }
    }
}

std::string reply_at(std::int64_t at, std::string const& cost) {
    return R"({"type":"model_replied","at":)" + std::to_string(at) +
           R"(,"data":{"usage":{"inputTokens":1,"outputTokens":1)" + cost + "}}}";
}

TEST_F(TimelineText, CostsOfReplies_AreAddedUp) {
    TimelineFold fold;
    fold.add(json::View(R"({"type":"turn_started","at":1,"turnID":"trn_x_1","data":{}})"));
    fold.add(json::View(reply_at(2, R"(,"cost":{"USD":1000000})")));
    fold.add(json::View(reply_at(3, "")));
    fold.add(json::View(reply_at(4, R"(,"cost":{"USD":250000})")));
    auto const line = fold.done(5);
    EXPECT_NE(timeline_text(line, "t", 80, {}).find("6 tokens, $1.25, asleep"), std::string::npos);
    auto const made = timeline_json(line);
    EXPECT_EQ(json::View(made)["use"].raw(), R"([{"at":2,"tokens":2,"cost":{"USD":1000000}},)"
                                             R"({"at":3,"tokens":4,"cost":{"USD":1000000}},)"
                                             R"({"at":4,"tokens":6,"cost":{"USD":1250000}}])");
}

TEST_F(TimelineText, WithoutPrices_NoCostIsShown) {
    TimelineFold fold;
    fold.add(json::View(R"({"type":"turn_started","at":1,"turnID":"trn_x_1","data":{}})"));
    fold.add(json::View(reply_at(2, "")));
    auto const line = fold.done(5);
    EXPECT_NE(timeline_text(line, "t", 80, {}).find("2 tokens, asleep"), std::string::npos);
    auto const made = timeline_json(line);
    EXPECT_EQ(json::View(made)["use"].raw(), R"([{"at":2,"tokens":2,"cost":null}])");
}

TEST_F(TimelineText, PartsOfAJournal_AreDrawnToo) {
    auto const journal = file("ledger.json");
    auto const all = json::View(journal)["items"].size();
    ASSERT_GE(all, 20U);
    for (std::size_t events = 0; events <= all; ++events) {
        auto const text = timeline_text(folded(journal, events), "part", 20, {});
        EXPECT_TRUE(text.starts_with("part\n")) << text;
        for (std::size_t at = 0; at < text.size();) {
            auto const end = text.find('\n', at);
            EXPECT_LE(width(std::string_view(text).substr(at, end - at)), 40U) << text;
            at = end + 1;
        }
    }
}

TEST_F(TimelineText, ManyTurns_ContinueInBands) {
    std::string journal = R"({"items":[)";
    for (int i = 0; i < 50; ++i) {
        auto const at = std::to_string(1'000'000 + i * 60'000);
        journal += (i == 0 ? "" : ",") + (R"({"seq":1,"type":"turn_started","turnID":"trn_a_)" +
                                          std::to_string(i + 1) + R"(","at":)" + at);
        journal += R"(,"data":{}},{"seq":2,"type":"turn_ended","at":)" + at + R"(,"data":{}})";
    }
    auto const text = timeline_text(folded(journal + "]}"), "many", 80, {});
    std::size_t bands = 0;
    for (auto at = text.find("\nturn "); at != std::string::npos; at = text.find("\nturn ", at + 1))
        ++bands;
    EXPECT_GE(bands, 3U) << text;
}

TEST_F(TimelineText, UntrustedNames_AreEscapedAndCut) {
    auto const line = folded(R"({"items":[
        {"type":"turn_started","at":1000,"data":{}},
        {"type":"model_replied","at":1001,"data":{"calls":[
            {"callID":"call_1","tool":"\u001b[31m日本語日本語日本語日本語"}]}},
        {"type":"input_received","at":1002,"data":{"by":"token:\u202eecila"}}]})");
    auto const text = timeline_text(line, "\x1b]0;x", 80, {});
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("\u202e"), std::string::npos) << text;
}

TEST_F(TimelineText, KnownStarts_SayWhenTheServerEnded) {
    TimelineFold fold;
    fold.start(json::View(R"({"epoch":1,"startedAt":500,"aliveAt":3000,"clean":true})"));
    fold.start(json::View(R"({"epoch":2,"startedAt":7000,"aliveAt":null,"clean":null})"));
    fold.add(json::View(R"({"type":"turn_started","at":1000,"data":{}})"));
    fold.add(json::View(R"({"type":"model_requested","at":1000,"data":{"epoch":1}})"));
    fold.add(json::View(R"({"type":"model_requested","at":9000,"data":{"epoch":2}})"));
    auto const line = fold.done(now);
    ASSERT_EQ(line.crashes.size(), 1U);
    EXPECT_EQ(line.crashes[0].at, 3'000);
    EXPECT_EQ(line.crashes[0].started, 7'000);
    auto const text = timeline_text(line, "stopped", 80, {});
    EXPECT_NE(text.find("✗ stopped/↺ started after 4 s"), std::string::npos) << text;
}

TEST_F(TimelineText, Colours_ColourWholeRuns) {
    auto const text = timeline_text(folded(file("crash.json")), "crash", 80, {.color = true});
    EXPECT_NE(text.find("\x1b[31m✗ killed"), std::string::npos) << text;
}

TEST_F(TimelineText, Json_HoldsTheFoldedTimeline) {
    auto const json = timeline_json(folded(file("crash.json")));
    json::View const view(json);
    EXPECT_EQ(view["crashes"].size(), 1U);
    EXPECT_EQ(view.at_pointer("/calls/0/attempts/0/outcome").string_or(""), "cut");
    EXPECT_EQ(view.at_pointer("/calls/0/settled/what").string_or(""), "done");
    ASSERT_TRUE(json::check(json.text()));
}

}  // namespace
}  // namespace dormouse::cli
