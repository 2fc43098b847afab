#include "session/expiry.h"

namespace dormouse::session {

std::string_view expiry_text(PauseReason asked, ErrorReason reason) {
    if (reason == ErrorReason::unknown) return "outcome unknown";
    if (reason == ErrorReason::denied) return "denied: nobody answered in time";
    bool const people = asked != PauseReason::tool_result && asked != PauseReason::handoff;
    return people ? "nobody answered in time" : "Tool execution timed out";
}

}  // namespace dormouse::session
