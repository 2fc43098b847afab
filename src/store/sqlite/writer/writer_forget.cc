// Sessions that were deleted, and whose ids are used again.
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/writer/writer.h"

#include <string>
#include <string_view>

namespace dormouse::store::sqlite {

Result<void> Writer::forget_deleted(SessionId session, std::optional<Bits128> const& created) {
    return transact([&]() -> Result<void> {
        auto const may = may_forget(session);
        if (!may) return std::unexpected(may.error());
        if (!*may) return {};
        auto const number = static_cast<std::int64_t>(session.number());
        // Rows of the feed have consecutive numbers, so they stay, and name nothing.
        for (Write const what : {Write::forget_posts, Write::forget_feed}) {
            auto forget = query(what);
            forget.bind(key_of(session.number(), 0)).bind(key_of(session.number(), seq_end - 1));
            if (auto done = forget.run(); !done) return done;
        }
        if (created) {
            std::string_view const key(reinterpret_cast<char const*>(created->data()),
                                       created->size());
            auto done = query(Write::forget_created).bind_bytes(key).bind(number).run();
            if (!done) return done;
        }
        if (auto done = query(Write::forget_number).bind(number).run(); !done) return done;
        return query(Write::forget_session).bind(number).run();
    });
}

// Returns false if the session is not deleted. Errors: conflict: it has an undelivered message.
Result<bool> Writer::may_forget(SessionId session) {
    auto const first = key_of(session.number(), 0);
    auto const last = key_of(session.number(), seq_end - 1);
    std::string const id = session.bare();
    auto found = query(Write::find_deleted);
    found.bind(static_cast<std::int64_t>(session.number())).bind(id);
    auto const there = found.bind(first).bind(last).next();
    if (!there || !*there) return there;
    auto unsent = query(Write::find_unsent);
    auto const waits = unsent.bind(first).bind(last).next();
    if (!waits) return waits;
    if (*waits) return port::undelivered();
    return true;
}

}  // namespace dormouse::store::sqlite
