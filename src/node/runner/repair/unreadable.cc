#include "runner/repair/unreadable.h"

#include <string>

namespace dormouse::runner {

namespace {
constexpr std::string_view mark = R"({"unreadable":true)";
}

Error unreadable(SessionId const& session, Error error) {
    if (error.code != Code::internal || !error.extra.is_null()) return error;
    error.detail +=
        " The session " + session.text() + " cannot be read: restore a backup, or delete it.";
    error.extra = Json::trusted(std::string(mark) + R"(,"sessionID":")" + session.text() + "\"}");
    return error;
}

bool is_unreadable(Error const& error) {
    return error.code == Code::internal && error.extra.text().starts_with(mark);
}

}  // namespace dormouse::runner
