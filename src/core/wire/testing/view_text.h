#pragma once
// A model view as text, to compare whole views.

#include "wire/view/view.h"

#include <string>
#include <vector>

namespace dormouse::wire::testing {

inline std::string view_text(session::ViewMessage const& message) {
    std::string out = message.role == session::ViewMessage::Role::assistant ? "A" : "U";
    out += std::to_string(message.seq) + std::string(message.parts.text());
    for (session::ViewCall const& call : message.calls) {
        out += std::to_string(call.call) + call.tool + std::string(call.input.text()) +
               (call.open ? "?" : "=") + call.error_text + std::string(call.output.text());
    }
    return out;
}

// One text for each message.
inline std::vector<std::string> view_text(session::ModelView const& view) {
    std::vector<std::string> out;
    for (session::ViewMessage const& message : view.messages) out.push_back(view_text(message));
    return out;
}

}  // namespace dormouse::wire::testing
