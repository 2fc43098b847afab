#include "store/sealed/sealer.h"

#include "store/sealed/testing/memory_keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace dormouse::store {
namespace {

TEST(MasterKeys, WrongText_IsRefusedWithoutShowingIt) {
    std::vector<std::string> const wrong{"",         ",",         "secret",
                                         "c2VjcmV0", key_a + ",", key_a + "," + key_a};
    for (std::string const& text : wrong) {
        auto const keys = MasterKeys::parse(text);
        ASSERT_FALSE(keys) << text;
        EXPECT_EQ(keys.error().code, Code::bad_value);
        EXPECT_FALSE(keys.error().detail.contains("secret") ||
                     keys.error().detail.contains("AAAA"));
    }
    EXPECT_TRUE(MasterKeys::parse(" " + key_a + " ,\n" + key_b + "\n"));
}

RC_GTEST_PROP(SealerProperty, SealedContent_OpensInItsPlaceOnly, (std::string const& content)) {
    MemoryKeys keys;
    auto const sealer = make_sealer(keys, key_a).value();
    auto const place = *rc::gen::string<std::string>();
    auto const other = *rc::gen::distinctFrom(place);
    auto const bytes = sealer->seal(content, place);
    auto const text = sealer->seal_text(content, place);
    RC_ASSERT(bytes.size() == content.size() + Sealer::overhead);
    RC_ASSERT(sealer->open(bytes, place) == content);
    RC_ASSERT(sealer->open_text(text, place) == content);
    RC_ASSERT(sealer->open(bytes, other) == std::nullopt);
    RC_ASSERT(sealer->open_text(text, other) == std::nullopt);
}

RC_GTEST_PROP(SealerProperty, AnyFlippedBit_IsDetected, (std::string const& content)) {
    MemoryKeys keys;
    auto const sealer = make_sealer(keys, key_a).value();
    auto bytes = sealer->seal(content, "place");
    auto const at = *rc::gen::inRange<std::size_t>(0, bytes.size() * 8);
    bytes[at / 8] = static_cast<char>(bytes[at / 8] ^ (1 << at % 8));
    RC_ASSERT(sealer->open(bytes, "place") == std::nullopt);
    bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size()));
    RC_ASSERT(sealer->open(bytes, "place") == std::nullopt);
}

TEST(Sealer, SameContentTwice_LooksDifferent) {
    MemoryKeys keys;
    std::set<std::string> seen;
    for (int start = 0; start < 3; ++start) {
        auto const sealer = make_sealer(keys, key_a).value();
        for (int i = 0; i < 100; ++i) seen.insert(sealer->seal("same", "place"));
    }
    EXPECT_EQ(seen.size(), 300U);
    EXPECT_EQ(keys.rows.size(), 3U) << "each start has a key of its own";
}

TEST(Sealer, LaterStart_OpensWhatEarlierOnesSealed) {
    MemoryKeys keys;
    auto const first = make_sealer(keys, key_a).value()->seal("text", "place");
    auto const second = make_sealer(keys, key_a).value();
    EXPECT_EQ(second->open(first, "place"), "text");
    EXPECT_TRUE(second->is_sealed(first));
}

TEST(Sealer, KeyOfAnotherProcess_IsReadWhenNeeded) {
    MemoryKeys keys;
    auto const a = make_sealer(keys, key_a).value();
    auto const b = make_sealer(keys, key_a).value();
    EXPECT_EQ(a->open(b->seal("text", "place"), "place"), "text");
}

TEST(Sealer, OtherMasterKey_IsRefusedAndChangesNothing) {
    MemoryKeys keys;
    std::ignore = make_sealer(keys, key_a).value();
    auto const before = keys.rows;
    auto const made = make_sealer(keys, key_b);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::wrong_state);
    EXPECT_EQ(keys.rows, before);
}

TEST(Sealer, ChangedDataKey_IsDamage) {
    MemoryKeys keys;
    std::ignore = make_sealer(keys, key_a).value();
    auto const whole = keys.rows;
    auto& row = keys.rows.begin()->second;
    for (std::size_t i = 0; i < row.wrapped.size(); ++i) {
        row = whole.begin()->second;
        row.wrapped[i] = static_cast<char>(row.wrapped[i] ^ 1);
        auto const made = make_sealer(keys, key_a);
        ASSERT_FALSE(made) << i;
        EXPECT_EQ(made.error().code, Code::internal);
    }
    row = whole.begin()->second;
    row.mixed = !row.mixed;
    EXPECT_FALSE(make_sealer(keys, key_a)) << "nobody else permits plain contents";
}

TEST(Sealer, ContentsFromBefore_AreReadUntilAllIsSealed) {
    MemoryKeys keys;
    auto const sealer = make_sealer(keys, key_a, false).value();
    EXPECT_EQ(sealer->open("[[]]", "place"), "[[]]");
    EXPECT_EQ(sealer->open_text("sealed:title", "place"), "sealed:title");
    ASSERT_TRUE(sealer->rewrap(true));
    EXPECT_EQ(sealer->open("[[]]", "place"), std::nullopt);
    auto const next = make_sealer(keys, key_a, false).value();
    EXPECT_EQ(next->open_text("title", "place"), std::nullopt) << "somebody put it there";
}

TEST(Sealer, NewStore_AcceptsNoPlainContents) {
    MemoryKeys keys;
    EXPECT_EQ(make_sealer(keys, key_a).value()->open("[[]]", "place"), std::nullopt);
    EXPECT_EQ(make_sealer(keys, key_a).value()->open("[[]]", "place"), std::nullopt);
}

TEST(Sealer, Rotation_OldMasterKeyIsNeededUntilRewrap) {
    MemoryKeys keys;
    auto const old = make_sealer(keys, key_a).value()->seal("text", "place");
    EXPECT_FALSE(make_sealer(keys, key_b));
    auto const both = make_sealer(keys, key_b + "," + key_a).value();
    EXPECT_EQ(both->open(old, "place"), "text");
    EXPECT_EQ(both->rewrap(false).value(), 1U);
    auto const only = make_sealer(keys, key_b).value();
    EXPECT_EQ(only->open(old, "place"), "text");
    EXPECT_FALSE(make_sealer(keys, key_a));
}

}  // namespace
}  // namespace dormouse::store
