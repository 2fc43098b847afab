#include <dormouse/id.h>

#include "base/text/text.h"

#include <gtest/gtest.h>

#include <set>

namespace dormouse {
namespace {

Bits128 random_bits(std::uint8_t seed) {
    Bits128 bits;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        bits[i] = static_cast<std::uint8_t>(seed * 31u + i * 59u + 7u);
    }
    return bits;
}

SessionId session(std::uint64_t number) {
    return SessionId::make(number, random_bits(static_cast<std::uint8_t>(number)));
}

constexpr std::uint64_t largest = (std::uint64_t{1} << 40) - 1;

TEST(SessionId, Id_HoldsItsNumberAndTheRandomBytes) {
    for (std::uint64_t const number :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{258}, largest}) {
        SessionId const id = SessionId::make(number, random_bits(9));
        EXPECT_EQ(id.number(), number);
        EXPECT_TRUE(std::equal(id.bytes.begin() + 5, id.bytes.end(), random_bits(9).begin() + 5));
    }
}

TEST(SessionId, Order_IsByNumber) {
    EXPECT_LT(session(1), session(2));
    EXPECT_LT(session(255), session(256));
}

TEST(SessionId, Text_ComesBack) {
    SessionId const id = session(4711);
    EXPECT_EQ(id.text(), "ses_" + id.bare());
    EXPECT_EQ(id.text().size(), 26u);
    EXPECT_EQ(SessionId::parse(id.text()), id);
}

TEST(SessionId, OtherTexts_AreRefused) {
    std::string const good = session(1).text();
    for (std::string const& bad :
         {std::string(), std::string("ses_"), good.substr(4), good + "A", good + " ", " " + good,
          good.substr(0, 25), "SES_" + good.substr(4), "msg_" + good.substr(4), good + "_1"}) {
        EXPECT_FALSE(SessionId::parse(bad)) << bad;
    }
}

TEST(SessionIdDeathTest, NumberBeyondFortyBits_StopsTheProcess) {
    EXPECT_DEATH(static_cast<void>(SessionId::make(largest + 1, Bits128{})), "broken invariant");
}

TEST(SessionId, Hash_SequentialNumbers_SpreadOverAllBits) {
    std::set<std::size_t> low;
    std::set<std::size_t> high;
    std::set<std::size_t> all;
    for (std::uint64_t number = 0; number < 4096; ++number) {
        std::size_t const hash = std::hash<SessionId>()(SessionId::make(number, Bits128{}));
        low.insert(hash % 4096);
        high.insert(hash >> 52);
        all.insert(hash);
    }
    EXPECT_EQ(all.size(), 4096u);
    // 4096 balls thrown at random into 4096 boxes leave about 1507 empty.
    EXPECT_GT(low.size(), 2400u);
    EXPECT_GT(high.size(), 2400u);
}

TEST(SessionId, Hash_UsesTheRandomPartToo) {
    EXPECT_NE(std::hash<SessionId>()(SessionId::make(1, random_bits(1))),
              std::hash<SessionId>()(SessionId::make(1, random_bits(2))));
}

TEST(PendingId, Text_ComesBack) {
    PendingId const id{session(7), 12, 3, random_bits(5)};
    EXPECT_EQ(PendingId::parse(id.text()), id);
}

TEST(PendingId, PartsThatLookLikeSeparators_AreParsed) {
    std::string const dashes = "_____________________w";
    auto const bits = parse_base64url_128(dashes);
    ASSERT_TRUE(bits);
    PendingId const id{SessionId{*bits}, 4, 2, *bits};
    EXPECT_EQ(id.text(), "pnd_" + dashes + "_4_2_" + dashes);
    EXPECT_EQ(PendingId::parse(id.text()), id);
}

TEST(PendingId, OtherTexts_AreRefused) {
    std::string const s = session(1).bare();
    std::string const n = base64url(random_bits(1));
    ASSERT_TRUE(PendingId::parse("pnd_" + s + "_1_1_" + n));
    for (std::string const& bad :
         {"pnd_" + s, "pnd_" + s + "_1_" + n, "pnd_" + s + "_1_1", "pnd_" + s + "_1_1_",
          "pnd_" + s + "_01_1_" + n, "pnd_" + s + "_1_+1_" + n, "pnd_" + s + "_0_1_" + n,
          "pnd_" + s + "_1_0_" + n, "pnd_" + s + "__1_" + n, "pnd_" + s + "_4294967296_1_" + n,
          "pnd_" + s + "_1_1_" + n + "A", "pnd_" + s + "_1_1_" + n.substr(1),
          "pnd_" + s + "_1_1_1_" + n, "pnd" + s + "_1_1_" + n, "ses_" + s + "_1_1_" + n}) {
        EXPECT_FALSE(PendingId::parse(bad)) << bad;
    }
}

TEST(PendingId, Text_FitsTheLengthLimitOfIds) {
    std::string const s = session(1).bare();
    std::string const n = base64url(random_bits(1));
    EXPECT_TRUE(PendingId::parse("pnd_" + s + "_4294967295_123_" + n));
    EXPECT_FALSE(PendingId::parse("pnd_" + s + "_4294967295_1234_" + n)) << "65 characters";
}

TEST(NumberedId, Text_ComesBack) {
    for (std::string_view const prefix : {"trn_", "msg_", "rcp_"}) {
        std::string const text = numbered_id(prefix, session(3), ~std::uint64_t{0});
        auto const id = parse_numbered(prefix, text);
        ASSERT_TRUE(id) << text;
        EXPECT_EQ(id->session, session(3));
        EXPECT_EQ(id->number, ~std::uint64_t{0});
    }
}

TEST(NumberedId, OtherTexts_AreRefused) {
    std::string const s = session(1).bare();
    for (std::string const& bad :
         {"trn_" + s, "trn_" + s + "_", "trn_" + s + "_01", "trn_" + s + "_0", "trn_" + s + "_-1",
          "trn_" + s + "_1_1", "trn_" + s + "_1 ", "trn_" + s + "_18446744073709551616",
          "trn_" + s.substr(1) + "_1", "msg_" + s + "_1"}) {
        EXPECT_FALSE(parse_numbered("trn_", bad)) << bad;
    }
}

TEST(SessionOf, EveryKindOfId_HasItsSession) {
    SessionId const id = session(99);
    std::string const s = id.bare();
    for (std::string const& text :
         {id.text(), numbered_id("trn_", id, 1), numbered_id("msg_", id, 2),
          numbered_id("rcp_", id, 3), numbered_id("rul_", id, 4), numbered_id("tsk_", id, 1),
          numbered_id("mail_", id, 9), PendingId{id, 1, 1, random_bits(8)}.text(),
          "prt_" + s + "_5_0", "prt_" + s + "_5_12", "dlv_" + s + "_7_0",
          "dlv_" + s + "_7_1000_0a1b2c3d"}) {
        EXPECT_EQ(session_of(text), id) << text;
    }
}

TEST(SessionOf, OtherTexts_HaveNoSession) {
    std::string const s = session(1).bare();
    for (std::string const& bad :
         {std::string(), s, "art_" + s, "dlv_" + s, "dlv_" + s + "_7", "prt_" + s,
          "prt_" + s + "_5", "prt_" + s + "_5_0_1", "prt_" + s + "_05_1", "prt_" + s + "_5_01",
          "trn_" + s, std::string(1000, 'A')}) {
        EXPECT_FALSE(session_of(bad)) << bad;
    }
}

}  // namespace
}  // namespace dormouse
