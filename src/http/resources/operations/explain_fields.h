#pragma once
// The members of the answer of `explain` (http/objects/fields.h).

#include "http/objects/object_fields.h"
#include "http/resources/shared.h"

#include <vector>

namespace dormouse::http {

struct ExplainedCall {
    PendingSource pending;
    std::optional<ConsumedSource> consumed;
};
template <>
inline constexpr auto rows<ExplainedCall> = object(
    "", "",
    field("pendingID", [](ExplainedCall const& one) { return one.pending.pause.get().pending; }),
    field("pending", &ExplainedCall::pending),
    field(
        "attempts", [](ExplainedCall const& one) { return one.pending.call.get().attempts; },
        "Number of starts of its tool."),
    field("settledSeq",
          or_null([](ExplainedCall const& one) { return one.pending.call.get().settled; }),
          "The event that settled it; null: it is open."),
    field("consumed", &ExplainedCall::consumed));

struct MissingGate {
    std::string call_id, gate;
};
template <>
inline constexpr auto rows<MissingGate> = object(
    "", "", field("callID", &MissingGate::call_id), field("gate", &MissingGate::gate),
    field(
        "next", [](MissingGate const&) { return bring_gate_back; }, "The next step for a person."));

struct AllowedByRule {
    std::string call_id, tool;
    wire::CallView::ByRule by_rule;
};
template <>
inline constexpr auto rows<AllowedByRule> =
    object("", "", field("callID", &AllowedByRule::call_id), field("tool", &AllowedByRule::tool),
           of(&AllowedByRule::by_rule, field("gate", &wire::CallView::ByRule::gate),
              field("ruleID", &wire::CallView::ByRule::rule),
              field("by", &wire::CallView::ByRule::by, "The person who made the rule."),
              field("at", &wire::CallView::ByRule::at)));

struct Explanation {
    Ref<session::State> state;
    std::vector<ExplainedCall> calls = {};
    std::vector<AllowedByRule> by_rules = {};
    std::vector<MissingGate> missing_gates = {};
    std::optional<std::string> waits_for = {};
};
template <>
inline constexpr auto rows<Explanation> =
    object("Explanation", "",
           field("sessionID", [](Explanation const& all) { return all.state.get().id; }),
           field("session", &Explanation::state), field("calls", &Explanation::calls),
           field("byRules", &Explanation::by_rules,
                 "Calls that a standing rule allowed, in place of a person."),
           field("missingGates", &Explanation::missing_gates,
                 "Open calls whose gate is not configured any more."),
           field("waitsFor", &Explanation::waits_for,
                 "The server on which alone the session continues, and which does not run; null: "
                 "none."));

}  // namespace dormouse::http
