#include "http/transport/address_count.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

TEST(AddressCount, OneAddress_OverItsShare_RefusedAndOthersNot) {
    AddressCount counts(2);
    EXPECT_TRUE(counts.enter("192.0.2.1"));
    EXPECT_TRUE(counts.enter("192.0.2.1"));
    EXPECT_FALSE(counts.enter("192.0.2.1"));
    EXPECT_TRUE(counts.enter("192.0.2.2"));
    counts.leave("192.0.2.1");
    EXPECT_TRUE(counts.enter("192.0.2.1"));
    EXPECT_FALSE(counts.enter("192.0.2.1"));
}

TEST(AddressCount, EmptyName_NeverCounted) {
    AddressCount counts(1);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(counts.enter(""));
    counts.leave("");
}

TEST(AddressCount, AddressesOfOneIpv6Network_HaveOneName) {
    EXPECT_EQ(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:2:ffff::9"));
    EXPECT_NE(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:3::1"));
    EXPECT_EQ(network_of("192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(network_of("unknown"), "unknown");
}

}  // namespace
}  // namespace dormouse::http
