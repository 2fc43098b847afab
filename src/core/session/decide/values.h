#pragma once
// JSON values that decisions write. Private to the layer.

#include "base/check.h"
#include "json/json.h"

#include <string_view>

namespace dormouse::session {

// A JSON string.
[[nodiscard]] inline Json text_json(std::string_view text) {
    return json::Writer().value(text).json();
}

// An object of members: a name, its value, and so on.
inline void write_members(json::Writer&) {}
template <class Value, class... More>
void write_members(json::Writer& out, std::string_view name, Value const& value,
                   More const&... more) {
    out.member(name, value);
    write_members(out, more...);
}
template <class... Members> [[nodiscard]] Json object_json(Members const&... members) {
    json::Writer out;
    write_members(out.begin_object(), members...);
    return out.end_object().json();
}

// An array of one text part. `text` is a JSON string.
[[nodiscard]] inline Json text_parts(Json const& text) {
    json::Writer out;
    return out.begin_array().value(object_json("type", "text", "text", text)).end_array().json();
}

// The problem of one member of the request, as Error::extra.
[[nodiscard]] inline Json member_error(std::string_view pointer, std::string_view message) {
    json::Writer out;
    out.begin_object().key("errors").begin_array();
    out.value(object_json("pointer", pointer, "message", message));
    return out.end_array().end_object().json();
}

}  // namespace dormouse::session
