#pragma once
// The members of the answer of an import of whole sessions (http/objects/fields.h).

#include "http/objects/fields.h"
#include "runner/transfer/import.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

struct WholeSession {
    runner::ImportedSession session;

    [[nodiscard]] std::optional<SessionId> was() const { return known(session.was); }
    [[nodiscard]] std::optional<SessionId> id() const { return known(session.now); }
    [[nodiscard]] std::optional<std::string> error() const {
        return session.error.empty() ? std::nullopt : std::optional(session.error);
    }

private:
    [[nodiscard]] std::optional<SessionId> known(SessionId id) const {
        return session.was.number() > 0 ? std::optional(id) : std::nullopt;
    }
};
template <>
inline constexpr auto rows<WholeSession> =
    object("ImportedSession", "The result for one session of an import.",
           field("was", &WholeSession::was, "Its id in the export; null: a line names none."),
           field("id", &WholeSession::id),
           of(&WholeSession::session,
              field("before", &runner::ImportedSession::before, "It was here already."),
              field("holds", &runner::ImportedSession::holds, "It has something to do.")),
           field("error", &WholeSession::error,
                 "Why it was refused: nothing of it was written. Null: it is here."));

struct WholeSessions {
    bool dry_run = false;
    std::vector<WholeSession> sessions = {};
};
template <>
inline constexpr auto rows<WholeSessions> =
    object("ImportedSessions", "", field("dryRun", &WholeSessions::dry_run),
           field("sessions", &WholeSessions::sessions, "In the order of the lines."));

}  // namespace dormouse::http
