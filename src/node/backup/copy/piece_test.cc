#include "backup/copy/piece.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse::backup {
namespace {

Piece sample() {
    Piece out{.generation = "01-ab", .sequence = 3, .release = "1.2", .time = from_ms(77)};
    out.previous.fill(7);
    out.cut = {.format = 4, .epoch = 5, .feed = 6, .page_bytes = 512, .page_count = 9};
    out.cut.pages = {8, 9, 2};  // as a cut that wraps around has them
    out.cut.content = std::string(512, 'h') + std::string(512, 'i') + std::string(512, 'b');
    out.cut.complete = true;
    out.files = {{"token", std::string("a\0b", 3)}};
    return out;
}

std::string changed(std::string text, std::string const& from, std::string const& to) {
    auto const at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Piece, WrittenPiece_IsReadAgainInTheOrderOfPages) {
    auto const read = read_piece(piece_bytes(sample()), "x");
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_EQ(read->generation, "01-ab");
    EXPECT_EQ(read->sequence, 3U);
    EXPECT_EQ(read->previous, sample().previous);
    EXPECT_EQ(read->time, from_ms(77));
    EXPECT_EQ(read->cut.pages, (std::vector<std::uint32_t>{2, 8, 9}));
    EXPECT_EQ(read->cut.content,
              std::string(512, 'b') + std::string(512, 'h') + std::string(512, 'i'));
    EXPECT_TRUE(read->cut.complete);
    EXPECT_EQ(read->cut.feed, 6U);
    EXPECT_EQ(read->files, sample().files);
}

TEST(Piece, PieceOfRelease01_IsRead) {
    std::string const whole = piece_bytes(sample());
    auto const head =
        changed(whole.substr(0, whole.find('\n') + 1), "\"format\":2", "\"format\":1");
    auto const pages = std::string(512, 'b') + std::string(512, 'h') + std::string(512, 'i');
    auto const read = read_piece(head + pages, "x");
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_EQ(read->cut.content, pages);
    EXPECT_FALSE(read_piece(head + pages + "x", "x"));
    EXPECT_FALSE(read_piece(head + pages.substr(1), "x"));
}

TEST(Piece, PagesThatRepeat_AreSmall) {
    auto piece = sample();
    piece.cut.content = std::string(3 * 512, 'x');
    EXPECT_LT(piece_bytes(piece).size(), 600U);
}

TEST(Piece, MorePagesThanTheHeadNames_AreRefused) {
    auto piece = sample();
    auto const whole = piece_bytes(piece);
    EXPECT_FALSE(read_piece(changed(whole, "[8,2]", "[8,1]"), "x"));
}

TEST(Piece, EveryTruncation_IsRefused) {
    std::string const whole = piece_bytes(sample());
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(read_piece(std::string_view(whole).substr(0, size), "x")) << size;
    EXPECT_FALSE(read_piece(whole + "x", "x"));
}

TEST(Piece, HeadThatIsWrong_IsRefused) {
    std::string const whole = piece_bytes(sample());
    for (auto const& [from, to] :
         {std::pair("[8,2]", "[8,3]"), std::pair("[8,2]", "[0,2]"), std::pair("[8,2]", "[8]"),
          std::pair("[8,2]", "[-8,2]"), std::pair("\"pageBytes\":512", "\"pageBytes\":0"),
          std::pair("\"pageCount\":9", "\"pageCount\":1"),
          std::pair("\"name\":\"token\"", "\"name\":\"../x\""),
          std::pair("\"name\":\"token\"", "\"name\":\"dormouse.db\"")})
        EXPECT_FALSE(read_piece(changed(whole, from, to), "x")) << to;
    auto const newer = read_piece(changed(whole, "\"format\":2", "\"format\":3"), "x");
    ASSERT_FALSE(newer);
    EXPECT_EQ(newer.error().code, Code::newer_format);
}

TEST(CopyIndex, WrittenIndex_IsReadAgain) {
    CopyIndex const index{
        .key_id = "",
        .generations = {{"a", from_ms(1), from_ms(2), true}, {"b", from_ms(3), {}, false}}};
    auto const read = read_copy_index(copy_index_text(index, "1"), Sealing());
    ASSERT_TRUE(read) << read.error().detail;
    ASSERT_EQ(read->generations.size(), 2U);
    EXPECT_EQ(read->generations[0].complete, from_ms(2));
    EXPECT_TRUE(read->generations[0].leaving);
    EXPECT_EQ(read->generations[1].complete, std::nullopt);
}

TEST(CopyIndex, IdThatLeavesTheCopy_IsRefused) {
    CopyIndex const index{.key_id = "", .generations = {{"../a", from_ms(1), {}, false}}};
    EXPECT_FALSE(read_copy_index(copy_index_text(index, "1"), Sealing()));
    EXPECT_FALSE(read_copy_index("{}", Sealing()));
}

}  // namespace
}  // namespace dormouse::backup
