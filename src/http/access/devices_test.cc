#include "http/access/devices.h"

#include <dormouse/time.h>

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

port::DeviceRow device(std::string id, std::string person, std::string endpoint, int at) {
    port::DeviceRow out;
    out.token = "tok_" + person;
    out.id = std::move(id);
    out.person = std::move(person);
    out.endpoint = std::move(endpoint);
    out.created = from_ms(at);
    return out;
}

TEST(Devices, SameEndpoint_ReplacesTheDevice) {
    Devices devices;
    devices.put(device("dev_1", "ann", "https://p/1", 1));
    devices.put(device("dev_2", "bob", "https://p/1", 2));
    EXPECT_EQ(devices.find("dev_1"), nullptr);
    ASSERT_NE(devices.find_endpoint("https://p/1"), nullptr);
    EXPECT_EQ(devices.find_endpoint("https://p/1")->id, "dev_2");
    EXPECT_EQ(devices.all().size(), 1U);
}

TEST(Devices, OfAPerson_AreListedOldestFirst) {
    Devices devices;
    devices.put(device("dev_1", "ann", "https://p/1", 2));
    devices.put(device("dev_2", "ann", "https://p/2", 1));
    devices.put(device("dev_3", "bob", "https://p/3", 3));
    auto const mine = devices.of("ann");
    ASSERT_EQ(mine.size(), 2U);
    EXPECT_EQ(mine[0].id, "dev_2");
    EXPECT_EQ(mine[1].id, "dev_1");
}

TEST(Devices, EndedToken_TakesItsDevices) {
    Devices devices;
    devices.put(device("dev_1", "ann", "https://p/1", 1));
    devices.put(device("dev_2", "bob", "https://p/2", 1));
    devices.remove_token("tok_ann");
    EXPECT_EQ(devices.find("dev_1"), nullptr);
    EXPECT_NE(devices.find("dev_2"), nullptr);
    devices.remove("dev_2");
    EXPECT_TRUE(devices.all().empty());
}

}  // namespace
}  // namespace dormouse::http
