#include "model/stream_parser.h"

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

TEST(LineParser, FindsTheSameLinesWhereverTheChunksEnd) {
    std::string_view const text = "{\"a\":1}\r\n\n  \n{\"b\":\"é\"}\n{\"unfinished\"";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        std::vector<std::string> lines;
        LineParser parser(20);
        for (auto rest = text; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
            EXPECT_TRUE(parser.feed(rest.substr(0, piece),
                                    [&](auto, auto line) { lines.emplace_back(line); }));
        }
        EXPECT_THAT(lines, ElementsAre("{\"a\":1}\r", "{\"b\":\"é\"}")) << piece;
    }
    LineParser parser(10);
    EXPECT_TRUE(parser.feed("1234567890", [](auto, auto) { FAIL(); }));
    EXPECT_FALSE(parser.feed("1", [](auto, auto) { FAIL(); }));
}

}  // namespace
}  // namespace dormouse::model
