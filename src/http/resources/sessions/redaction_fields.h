#pragma once
// The members of the answer of a redaction (http/objects/fields.h).

#include "http/objects/object_fields.h"
#include "runner/lane/redact.h"
#include "wire/names.h"

#include <optional>
#include <string>

namespace dormouse::http {

struct RedactionAnswer {
    runner::RedactionReport report;
    bool dry_run = false;

    [[nodiscard]] session::Redacted const& what() const { return report.what; }
    [[nodiscard]] std::optional<MessageText> message() const {
        if (what().message == 0) return std::nullopt;
        return MessageText{report.session, what().message};
    }
    [[nodiscard]] std::optional<std::string> call() const {
        if (what().call == 0) return std::nullopt;
        return wire::call_text(what().call);
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
    "Redaction", "What was removed, or with dryRun would be.",
    field("sessionID", [](RedactionAnswer const& all) { return all.report.session; }),
    field("messageID", &RedactionAnswer::message), field("callID", &RedactionAnswer::call),
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
        "Webhooks and notifications, sent or not."));

}  // namespace dormouse::http
