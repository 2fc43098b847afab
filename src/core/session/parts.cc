#include "session/parts.h"

#include "json/json.h"

namespace dormouse::session {

Json text_parts(std::string_view text) {
    json::Writer out;
    out.begin_array().begin_object().member("type", "text").member("text", text);
    return out.end_object().end_array().json();
}

}  // namespace dormouse::session
