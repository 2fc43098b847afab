#include "base/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse {
namespace {

using ::testing::ElementsAre;

// Events as "id|name|data", fed in pieces of `piece` bytes.
std::vector<std::string> parsed(std::string_view text, std::size_t piece) {
    std::vector<std::string> out;
    SseParser parser(1'000);
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        EXPECT_TRUE(parser.feed(text.substr(0, piece), [&](SseEvent const& event) {
            out.push_back(event.id + "|" + event.name + "|" + event.data);
        }));
    }
    return out;
}

TEST(SseParser, ChunksOfAnySize_SameEvents) {
    std::string_view const text =
        "\xEF\xBB\xBF"
        "data: one\n\n"
        ": a comment\n\n"
        "event: ping\ndata:two\r\ndata:  three\r\n\r\n"
        "id: 7\nretry: 10\ndata\n\n"
        "event: no data\n\n"
        "data: four\r\r"
        "data: unfinished\n";
    auto const whole = parsed(text, text.size());
    EXPECT_THAT(whole, ElementsAre("||one", "|ping|two\n three", "7||", "7||four"));
    for (std::size_t piece = 1; piece < text.size(); ++piece)
        EXPECT_EQ(parsed(text, piece), whole) << piece;
}

TEST(SseParser, EventWithoutId_KeepsTheLastOne) {
    EXPECT_THAT(parsed("id: 4\ndata: a\n\nevent: delta\ndata: b\n\nid: 5\n\ndata: c\n\n", 1'000),
                ElementsAre("4||a", "4|delta|b", "5||c"));
}

TEST(SseParser, FrameOfAnIdAlone_SetsTheLastId) {
    SseParser parser;
    int events = 0;
    auto const count = [&events](SseEvent const&) { ++events; };
    EXPECT_TRUE(parser.feed("retry: 1000\n\nid: f4\n", count));
    EXPECT_EQ(parser.last_id(), "") << "the frame is not complete";
    EXPECT_TRUE(parser.feed("\nid: f5\nda", count));
    EXPECT_EQ(parser.last_id(), "f4");
    EXPECT_EQ(events, 0);
}

TEST(SseParser, IdWithNul_Ignored) {
    using namespace std::string_view_literals;
    EXPECT_THAT(parsed("id: 4\0\ndata: a\n\n"sv, 1'000), ElementsAre("||a"));
}

TEST(SseParser, EventOverTheLimit_EndsTheParsing) {
    SseParser parser(10);
    auto const none = [](SseEvent const&) { FAIL(); };
    EXPECT_TRUE(parser.feed("data: 12", none));
    EXPECT_FALSE(parser.feed("345", none));
    SseParser lines(10);
    EXPECT_TRUE(lines.feed("data: 1\ndata: 2\n", none));
    EXPECT_FALSE(lines.feed("data: 34", none));
}

}  // namespace
}  // namespace dormouse
