// Sessions that were deleted and come back (port::Append::restores).
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/writer/writer.h"

#include <cstdint>
#include <string>

namespace dormouse::store::sqlite {

// The first append of a session whose number has a row.
std::expected<Writer::Known, Writer::Failure> Writer::check_deleted(port::Append const& append) {
    SessionId const session = append.session;
    auto const deleted = append.restores ? is_deleted(session) : Result<bool>(false);
    if (!deleted) return std::unexpected(Failure{Reach::batch, deleted.error()});
    if (!*deleted) return std::unexpected(Failure{Reach::append, port::moved(session).error()});
    auto unsent = query(Write::find_unsent);
    unsent.bind(key_of(session.number(), 0)).bind(key_of(session.number(), seq_end - 1));
    auto const waits = unsent.next();
    if (!waits) return std::unexpected(Failure{Reach::batch, waits.error()});
    if (*waits) return std::unexpected(Failure{Reach::append, port::undelivered().error()});
    return Known{static_cast<std::int64_t>(session.number()), 0, true};
}

Result<bool> Writer::is_deleted(SessionId session) {
    std::string const id = session.bare();
    auto found = query(Write::find_deleted);
    found.bind(static_cast<std::int64_t>(session.number())).bind(id);
    found.bind(key_of(session.number(), 0)).bind(key_of(session.number(), seq_end - 1));
    return found.next();
}

// Its create key stays: it names the same session again.
Result<void> Writer::forget_deleted(SessionId session) {
    // Rows of the feed have consecutive numbers, so they stay, and name nothing.
    for (Write const what : {Write::forget_outbox, Write::forget_feed}) {
        auto forget = query(what);
        forget.bind(key_of(session.number(), 0)).bind(key_of(session.number(), seq_end - 1));
        if (auto done = forget.run(); !done) return done;
    }
    return query(Write::forget_session).bind(static_cast<std::int64_t>(session.number())).run();
}

}  // namespace dormouse::store::sqlite
