#include "backup/copy/page_record.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <utility>

namespace dormouse::backup {
namespace {

constexpr std::uint32_t page_bytes = 64;

store::sqlite::Cut cut_of(std::map<std::uint32_t, char> const& pages, std::uint32_t count) {
    store::sqlite::Cut out;
    out.page_bytes = page_bytes;
    out.page_count = count;
    for (auto const& [page, content] : pages) {
        out.pages.push_back(page);
        out.content += std::string(page_bytes, content);
    }
    return out;
}

Resumption resumption() {
    Resumption out{.key_id = "k",
                   .start = "s",
                   .generation = {.id = "g", .begun = from_ms(5), .complete = from_ms(7)},
                   .newest = {3, sha256("piece")},
                   .record = {}};
    out.record.add(cut_of({{1, 'a'}, {2, 'b'}, {3, 'c'}}, 4));
    out.record.files["token"] = sha256("t");
    return out;
}

TEST(PageRecord, KnownPages_AreDropped) {
    auto const record = resumption().record;
    auto cut = cut_of({{1, 'a'}, {2, 'x'}, {3, 'c'}, {4, 'd'}, {5, 'e'}}, 5);
    record.drop_known(cut);
    EXPECT_EQ(cut.pages, (std::vector<std::uint32_t>{2, 4, 5}));
    EXPECT_EQ(cut.content, cut_of({{2, 'x'}, {4, 'd'}, {5, 'e'}}, 5).content);
}

TEST(PageRecord, PagesOfAnotherSize_AreKept) {
    auto const record = resumption().record;
    auto cut = cut_of({{1, 'a'}}, 4);
    cut.page_bytes = page_bytes / 2;
    record.drop_known(cut);
    EXPECT_EQ(cut.pages.size(), 1U);
}

TEST(PageRecord, SmallerDatabase_ForgetsItsLastPages) {
    auto record = resumption().record;
    record.add(cut_of({{1, 'z'}}, 2));
    auto cut = cut_of({{1, 'z'}, {2, 'b'}, {3, 'c'}}, 3);
    record.drop_known(cut);
    EXPECT_EQ(cut.pages, (std::vector<std::uint32_t>{3}));
}

TEST(PageRecord, TooLargeDatabase_HasNone) {
    PageRecord record;
    store::sqlite::Cut cut = cut_of({{1, 'a'}}, PageRecord::pages_max + 1);
    record.add(cut);
    EXPECT_TRUE(record.overflows());
    record.drop_known(cut);
    EXPECT_EQ(cut.pages.size(), 1U);
}

// The pages that drop_known() leaves, written over the former pages, give the present state.
TEST(PageRecord, AnyStates_DifferenceLeadsFromOneToTheOther) {
    rc::check([] {
        using Pages = std::map<std::uint32_t, char>;
        auto const state = [] {
            Pages out;
            auto const count = *rc::gen::inRange<std::uint32_t>(1, 9);
            for (std::uint32_t page = 1; page <= count; ++page)
                out[page] = *rc::gen::inRange('a', 'd');
            return out;
        };
        Pages copy = state();
        Pages const now = state();
        PageRecord record;
        record.add(cut_of(copy, static_cast<std::uint32_t>(copy.size())));
        auto cut = cut_of(now, static_cast<std::uint32_t>(now.size()));
        record.drop_known(cut);
        for (std::size_t i = 0; i < cut.pages.size(); ++i)
            copy[cut.pages[i]] = cut.content[i * page_bytes];
        std::erase_if(copy, [&](auto const& page) { return page.first > now.size(); });
        RC_ASSERT(copy == now);
    });
}

TEST(Resumption, Written_IsReadAlike) {
    auto const written = resumption();
    auto const read = read_resumption(resumption_text(written));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->record, written.record);
    EXPECT_EQ(read->key_id, "k");
    EXPECT_EQ(read->start, "s");
    EXPECT_EQ(read->generation.id, "g");
    EXPECT_EQ(read->generation.begun, from_ms(5));
    EXPECT_EQ(read->generation.complete, from_ms(7));
    EXPECT_EQ(read->newest.sequence, 3U);
    EXPECT_EQ(read->newest.digest, sha256("piece"));
}

TEST(Resumption, Damaged_IsNotRead) {
    auto const text = resumption_text(resumption());
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto damaged = text;
        damaged[i] = static_cast<char>(damaged[i] ^ 1);
        EXPECT_FALSE(read_resumption(damaged)) << i;
        EXPECT_FALSE(read_resumption(text.substr(0, i))) << i;
    }
    EXPECT_FALSE(read_resumption(""));
}

}  // namespace
}  // namespace dormouse::backup
