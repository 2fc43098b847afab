#pragma once
// The members of the answers of retention (http/objects/fields.h).

#include "http/objects/fields.h"
#include "runner/lane/cut.h"
#include "runner/runner.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dormouse::http {

struct OldSession {
    SessionId session;
    std::string project;
    std::uint64_t bytes = 0;
};
template <>
inline constexpr auto rows<OldSession> =
    object("", "", field("sessionID", &OldSession::session),
           field("projectID", &OldSession::project), field("bytes", &OldSession::bytes));

// The sessions, lines of the audit, and given-up webhooks that are old enough, and what became of
// them.
struct RetentionAnswer {
    static constexpr std::uint32_t given_up_max = 1'000;  // by one request

    bool dry_run = false;
    std::optional<Time> until = {};  // of sessions; nullopt: none is deleted. The same below
    std::optional<Time> audit_until = {};
    std::optional<Time> given_up_until = {};
    runner::OldAudit audit = {};
    std::uint64_t given_up = 0;  // at most given_up_max + 1
    std::vector<SessionId> old = {};
    bool more = false;
    std::uint64_t bytes = 0;
    std::uint64_t deleted = 0;
    std::vector<OldSession> shown = {};
};
template <>
inline constexpr auto rows<RetentionAnswer> = object(
    "Retention", "",
    field("completedBefore", &RetentionAnswer::until,
          "Milliseconds since the Unix epoch; null: sessions are kept."),
    field("dryRun", &RetentionAnswer::dry_run),
    field("sessions", [](RetentionAnswer const& all) { return all.old.size(); }),
    field("bytes", &RetentionAnswer::bytes), field("deleted", &RetentionAnswer::deleted),
    field("more", &RetentionAnswer::more),
    field("found", &RetentionAnswer::shown, "The oldest 100."),
    nested("audit", "Lines at the beginning of the audit, up to the one named.",
           field("before", &RetentionAnswer::audit_until),
           field("lines", [](RetentionAnswer const& all) { return all.audit.trim.lines; }),
           field("through", [](RetentionAnswer const& all) { return all.audit.trim.through; }),
           field("more", [](RetentionAnswer const& all) { return all.audit.more; })),
    nested("deliveries", "Webhooks out that were given up.",
           field("before", &RetentionAnswer::given_up_until),
           field("count",
                 [](RetentionAnswer const& all) {
                     return std::min<std::uint64_t>(all.given_up, RetentionAnswer::given_up_max);
                 }),
           field("more", [](RetentionAnswer const& all) {
               return all.given_up > RetentionAnswer::given_up_max;
           })));

struct CutSession {
    SessionId session;
    runner::CutReport report;
};
template <>
inline constexpr auto rows<CutSession> =
    object("", "", field("sessionID", &CutSession::session),
           of(&CutSession::report, field("messages", &runner::CutReport::messages),
              field("bytes", &runner::CutReport::bytes)));

// The sessions that had more than they keep.
struct CutAnswer {
    bool dry_run = false;
    runner::Keep keep = {};
    std::optional<std::uint64_t> next = {};
    std::uint64_t cut = 0;
    runner::CutReport all = {};
    std::vector<CutSession> found = {};

    [[nodiscard]] std::optional<std::string> cursor() const {
        return next ? std::optional(std::to_string(*next)) : std::nullopt;
    }
};
template <>
inline constexpr auto rows<CutAnswer> = object(
    "RetentionMessages", "",
    of(&CutAnswer::keep,
       field("messagesPerSession", &runner::Keep::messages,
             "The limit that was applied; null: no limit."),
       field("messageAgeMs", &runner::Keep::age), field("sessionBytes", &runner::Keep::bytes)),
    field("dryRun", &CutAnswer::dry_run),
    field("sessions", &CutAnswer::cut, "Number of sessions that exceeded a limit."),
    of(&CutAnswer::all,
       field("messages", &runner::CutReport::messages,
             "Number of messages that were deleted, or with dryRun would be."),
       field("bytes", &runner::CutReport::bytes, "By how much the journals shrink.")),
    field("next", &CutAnswer::cursor, "The value of `after` for the next 1000 sessions."),
    field("found", &CutAnswer::found));

}  // namespace dormouse::http
