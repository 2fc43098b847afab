#include "port/store_rows.h"

namespace dormouse::port {

AppendResult moved(SessionId session) {
    AppendError error(Error{Code::store_unavailable,
                            "Another append to " + session.text() + " came first.",
                            {},
                            1'000});
    error.cause = AppendError::Cause::moved;
    return std::unexpected(std::move(error));
}

AppendResult fenced() {
    AppendError error(Error{Code::store_unavailable,
                            "The other servers declared this one dead; it joins them again.",
                            {},
                            1'000});
    error.cause = AppendError::Cause::fenced;
    return std::unexpected(std::move(error));
}

AppendError source_changed(SourceFrame const& source) {
    return Error{Code::precondition_failed,
                 source.session.text() + " changed while it was copied."};
}

std::unexpected<Error> undelivered() {
    return fail(Code::conflict,
                "what was sent when it was deleted is not delivered yet: try later");
}

}  // namespace dormouse::port
