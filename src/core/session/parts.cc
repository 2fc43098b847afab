#include "session/parts.h"

#include "json/json.h"

namespace dormouse::session {

Json text_parts(std::string_view text) {
    json::Writer out;
    out.begin_array().begin_object().member("type", "text").member("text", text);
    return out.end_object().end_array().json();
}

std::size_t text_bytes(Json const& parts) {
    std::size_t bytes = 0;
    json::View(parts).elements([&](json::View part) {
        if (part["type"].string_or("") != "text") return;
        bytes += (bytes == 0 ? 0 : 1) + part["text"].string_or("").size();
    });
    return bytes;
}

}  // namespace dormouse::session
