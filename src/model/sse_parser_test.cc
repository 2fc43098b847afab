#include "model/sse_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::model {
namespace {

using testing::ElementsAre;

// Events as "name|data", fed in pieces of `piece` bytes.
std::vector<std::string> parsed(std::string_view text, std::size_t piece) {
    std::vector<std::string> out;
    SseParser parser(1'000);
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        EXPECT_TRUE(
            parser.feed(text.substr(0, piece), [&](std::string_view name, std::string_view data) {
                out.push_back(std::string(name) + "|" + std::string(data));
            }));
    }
    return out;
}

TEST(SseParser, FindsTheSameEventsWhereverTheChunksEnd) {
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
    EXPECT_THAT(whole, ElementsAre("|one", "ping|two\n three", "|", "|four"));
    for (std::size_t piece = 1; piece < text.size(); ++piece)
        EXPECT_EQ(parsed(text, piece), whole) << piece;
}

TEST(SseParser, AnEventOfAnySizeIsCutAtTheLimit) {
    SseParser parser(10);
    auto const none = [](auto, auto) { FAIL(); };
    EXPECT_TRUE(parser.feed("data: 12", none));
    EXPECT_FALSE(parser.feed("345", none));
    SseParser lines(10);
    EXPECT_TRUE(lines.feed("data: 1\ndata: 2\n", none));
    EXPECT_FALSE(lines.feed("data: 34", none));
}

}  // namespace
}  // namespace dormouse::model
