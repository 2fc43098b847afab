#include "model/line_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::model {
namespace {

using testing::ElementsAre;

TEST(LineParser, Chunks_AnyBoundaries_SameLines) {
    std::string_view const text = "{\"a\":1}\r\n\n  \n{\"b\":\"é\"}\n{\"unfinished\"";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        std::vector<std::string> lines;
        LineParser parser(20);
        for (auto rest = text; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
            EXPECT_TRUE(parser.feed(rest.substr(0, piece),
                                    [&](std::string_view line) { lines.emplace_back(line); }));
        }
        EXPECT_THAT(lines, ElementsAre("{\"a\":1}\r", "{\"b\":\"é\"}")) << piece;
    }
    LineParser parser(10);
    EXPECT_TRUE(parser.feed("1234567890", [](auto) { FAIL(); }));
    EXPECT_FALSE(parser.feed("1", [](auto) { FAIL(); }));
}

}  // namespace
}  // namespace dormouse::model
