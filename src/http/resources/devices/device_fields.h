#pragma once
// The members of devices (http/objects/fields.h).

#include "base/url.h"
#include "http/objects/fields.h"
#include "port/store_rows.h"

#include <vector>

namespace dormouse::http {

struct DeviceSource {
    port::DeviceRow row;
    bool current = false;
};
template <>
inline constexpr auto rows<DeviceSource> =
    object("Device", "A browser that gets notifications.",
           of(&DeviceSource::row, field("id", &port::DeviceRow::id),
              field("label", &port::DeviceRow::label, "Name that the browser gave itself."),
              field(
                  "service",
                  [](port::DeviceRow const& row) {
                      return parse_url(row.endpoint).value_or(Url{}).authority();
                  },
                  "The host of its push service. The rest of its address is a secret.")),
           field("current", &DeviceSource::current, "Added with the token of this request."),
           nested("time", "", of(&DeviceSource::row, field("created", &port::DeviceRow::created))));

struct DeviceList {
    std::optional<std::string> key;
    std::vector<DeviceSource> items;
};
template <>
inline constexpr auto rows<DeviceList> = object(
    "Devices", "The caller's devices.",
    field("key", &DeviceList::key,
          "The server's public key (applicationServerKey), in base64url; null: this server sends "
          "no notifications to devices."),
    field("items", &DeviceList::items, "Oldest first."));

struct DeviceTest {
    bool taken = false;
    int status = 0;
    std::string why = {};
    bool removed = false;
};
template <>
inline constexpr auto rows<DeviceTest> =
    object("DeviceTest", "The result of a test notification.",
           field("taken", &DeviceTest::taken, "The push service took it."),
           field("status", or_null(&DeviceTest::status), "Its answer; null: none."),
           field("why", or_null(&DeviceTest::why), "Why it did not take it."),
           field("removed", &DeviceTest::removed,
                 "The push service has removed the device, so it was removed here, too."));

}  // namespace dormouse::http
