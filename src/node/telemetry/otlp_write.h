#pragma once
// Parts of OTLP's JSON encoding that traces and metrics share. Pure.

#include "json/json.h"
#include "telemetry/otlp.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::telemetry {

[[nodiscard]] inline std::string nanoseconds(Time time) {
    return std::to_string(to_ms(time)) + "000000";
}

inline void write_value(json::Writer& out, std::string const& value) {
    out.begin_object().member("stringValue", value).end_object();
}
inline void write_value(json::Writer& out, std::int64_t value) {
    out.begin_object().member("intValue", std::to_string(value)).end_object();
}
inline void write_value(json::Writer& out, bool value) {
    out.begin_object().member("boolValue", value).end_object();
}
inline void write_value(json::Writer& out, std::vector<std::string> const& values) {
    out.begin_object().key("arrayValue").begin_object().key("values").begin_array();
    for (std::string const& value : values) write_value(out, value);
    out.end_array().end_object().end_object();
}

// One element of `attributes`.
template <class T> void write_attribute(json::Writer& out, std::string_view key, T const& value) {
    out.begin_object().member("key", key).key("value");
    write_value(out, value);
    out.end_object();
}

inline void write_resource(json::Writer& out, Resource const& resource) {
    out.key("resource").begin_object().key("attributes").begin_array();
    write_attribute(out, "service.name", resource.service);
    write_attribute(out, "service.version", resource.version);
    write_attribute(out, "service.instance.id", resource.instance);
    out.end_array().end_object();
}

inline void write_scope(json::Writer& out, Resource const& resource) {
    out.key("scope").begin_object().member("name", "dormouse");
    out.member("version", resource.version).end_object();
}

}  // namespace dormouse::telemetry
