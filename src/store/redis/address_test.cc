#include "store/redis/address.h"

#include <gmock/gmock.h>

namespace dormouse::store::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedisAddress, Parts_AreRead) {
    auto const all =
        parse_address("redis://ann:p%40ss@db.example.org:6380/3?prefix=shop%3A").value();
    EXPECT_EQ(all.host, "db.example.org");
    EXPECT_EQ(all.port, 6380);
    EXPECT_EQ(all.user, "ann");
    EXPECT_EQ(all.password, "p@ss");
    EXPECT_EQ(all.database, 3U);
    EXPECT_EQ(all.prefix, "shop:");
}

TEST(RedisAddress, LeftOut_HasDefaults) {
    auto const least = parse_address("redis://localhost").value();
    EXPECT_EQ(least.host, "localhost");
    EXPECT_EQ(least.port, 6379);
    EXPECT_EQ(least.database, 0U);
    EXPECT_EQ(least.prefix, "dormouse:");
    EXPECT_EQ(parse_address("redis://h?prefix=").value().prefix, "");
    EXPECT_EQ(parse_address("redis://:secret@h").value().password, "secret");
}

TEST(RedisAddress, Ipv6AndSocket_AreRead) {
    EXPECT_EQ(parse_address("redis://[::1]:7/1").value().host, "::1");
    EXPECT_EQ(parse_address("redis://[::1]").value().port, 6379);
    auto const socket = parse_address("redis+unix:///run/redis.sock?db=2&prefix=a").value();
    EXPECT_EQ(socket.socket, "/run/redis.sock");
    EXPECT_EQ(socket.database, 2U);
    EXPECT_EQ(socket.prefix, "a");
}

TEST(RedisAddress, Wrong_SaysWhatToDo) {
    for (std::string const bad :
         {"", "http://h", "redis://", "redis://:7", "redis://h:x", "redis://h:70000", "redis://h/x",
          "redis://h/70000", "redis://h?db=-1", "redis://h?other=1", "redis://[::1", "redis://a@h",
          "redis://[::1]x", "redis+unix://run/x", "redis://u:%zz@h", "redis://h?prefix=%4"}) {
        auto const address = parse_address(bad);
        ASSERT_FALSE(address) << bad;
        EXPECT_EQ(address.error().code, Code::bad_value) << bad;
    }
    EXPECT_THAT(parse_address("rediss://h").error().detail, HasSubstr("no TLS"));
    EXPECT_FALSE(parse_address(std::string_view("redis://h\0x", 11)));
}

TEST(RedisAddress, Shown_HasNoPassword) {
    auto const address = parse_address("redis://ann:s3cret@h:1/2").value();
    EXPECT_EQ(shown(address), "redis://h:1/2");
    EXPECT_THAT(parse_address("redis://ann:s3cret@h:x").error().detail, Not(HasSubstr("s3cret")));
    EXPECT_EQ(shown(parse_address("redis://[::1]:7/1").value()), "redis://[::1]:7/1");
}

}  // namespace
}  // namespace dormouse::store::redis
