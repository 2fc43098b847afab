#pragma once
// Parts of OTLP's JSON encoding that traces and metrics share. Pure.

#include "json/json.h"
#include "telemetry/otlp.h"

#include <string>
#include <string_view>

namespace dormouse::telemetry {

[[nodiscard]] inline std::string nanoseconds(Time time) {
    return std::to_string(to_ms(time)) + "000000";
}

// One element of `attributes`.
inline void write_attribute(json::Writer& out, std::string_view key, std::string_view value) {
    out.begin_object().member("key", key).key("value");
    out.begin_object().member("stringValue", value).end_object().end_object();
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
