#pragma once
// The members of the answer of a redaction (http/objects/fields.h).

#include "http/objects/object_fields.h"
#include "runner/lane/redact/redact.h"
#include "wire/names.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

template <>
inline constexpr auto rows<runner::RedactionCopy> = object(
    "RedactionCopy", "Another session that has it.",
    field("sessionID", &runner::RedactionCopy::session),
    field("why", &runner::RedactionCopy::why,
          "mail: the other side of it; task: the other side of a task; fork: the beginning of a "
          "fork, or what was forked; alias: its mail names the session by its alias."),
    field(
        "item", [](runner::RedactionCopy const& copy) { return copy.item; }, "Its id there."),
    field(
        "seq",
        [](runner::RedactionCopy const& copy) {
            return copy.seq == 0 ? std::nullopt : std::optional(copy.seq);
        },
        "The event that records its removal there; null: nothing was removed."));

class Body;

// Reads what is to be removed. `body` has the error.
[[nodiscard]] runner::RedactionAsk read_redaction(Body& body, SessionId session);

struct RedactionAnswer {
    runner::RedactionReport report;
    bool dry_run = false;

    [[nodiscard]] session::Redacted const& what() const { return report.what; }
    [[nodiscard]] std::optional<MessageText> message() const {
        if (what().message == 0) return std::nullopt;
        return MessageText{report.session, what().message};
    }
    [[nodiscard]] std::vector<runner::RedactionCopy> copies() const { return report.copies; }
    [[nodiscard]] std::optional<std::string> call() const {
        if (what().call == 0) return std::nullopt;
        return wire::call_text(what().call);
    }
    [[nodiscard]] std::optional<TurnText> turn() const {
        if (what().turn == 0) return std::nullopt;
        return TurnText{report.session, what().turn};
    }
    [[nodiscard]] std::optional<std::string> set() const {
        return what().what.empty() ? std::nullopt : std::optional(what().what);
    }
    [[nodiscard]] std::optional<Seq> seq() const {
        return report.seq == 0 ? std::nullopt : std::optional(report.seq);
    }
    [[nodiscard]] std::optional<Time> at() const {
        return report.seq == 0 ? std::nullopt : std::optional(report.at);
    }
};
template <>
inline constexpr auto rows<RedactionAnswer> = object(
    "Redaction", "The removed content, or with dryRun the content to remove.",
    field("sessionID", [](RedactionAnswer const& all) { return all.report.session; }),
    field("messageID", &RedactionAnswer::message,
          "The message; of mail, a task and what a fork or an import brought, the event that sent, "
          "started or brought it."),
    field("callID", &RedactionAnswer::call), field("turnID", &RedactionAnswer::turn),
    field("what", &RedactionAnswer::set,
          "What was set of the session: \"title\", \"alias\", \"labels\" or \"label <key>\"; with "
          "\" at creation\": only what a fork began with."),
    field("dryRun", &RedactionAnswer::dry_run),
    field("seq", &RedactionAnswer::seq, "The event that records it; null: nothing was removed."),
    field("at", &RedactionAnswer::at),
    field("by", [](RedactionAnswer const& all) { return all.what().by; }),
    field("reason", [](RedactionAnswer const& all) { return all.what().reason; }),
    field(
        "events", [](RedactionAnswer const& all) { return all.what().events; },
        "Events that held content; each is still there, with a text in its place."),
    field(
        "bytes", [](RedactionAnswer const& all) { return all.what().bytes; },
        "The bytes of these events before."),
    field("artifacts", [](RedactionAnswer const& all) { return all.what().artifacts; }),
    field("artifactBytes", [](RedactionAnswer const& all) { return all.what().artifact_bytes; }),
    field(
        "deliveries", [](RedactionAnswer const& all) { return all.what().deliveries; },
        "Webhooks and notifications, sent or not."),
    field("copies", &RedactionAnswer::copies,
          "Sessions that have it, too. Of mail and tasks it was removed there; of forks only with "
          "`forks`. Those of projects that the token may not operate are left out."));

}  // namespace dormouse::http
