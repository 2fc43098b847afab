#pragma once
// The members of agents, tools and what a repair found (http/objects/fields.h).

#include "http/objects/fields.h"
#include "port/catalogue.h"
#include "runner/runner.h"

namespace dormouse::http {

template <>
inline constexpr auto rows<port::AgentEntry> = object(
    "Agent", "", field("id", &port::AgentEntry::id),
    field("kind", &port::AgentEntry::kind, {.words = "model acp"}),
    field("available", [](port::AgentEntry const& agent) { return agent.unavailable.empty(); }),
    field("reason", or_null(&port::AgentEntry::unavailable)),
    field("model", or_null(&port::AgentEntry::model)), field("tools", &port::AgentEntry::tools),
    nested("can", "", field("load", &port::AgentEntry::can_load),
           field("resume", &port::AgentEntry::can_resume)),
    field("path", or_null(&port::AgentEntry::path)),
    field("version", or_null(&port::AgentEntry::version)));

struct ToolEntry {
    std::string name;
    std::vector<std::string> agents;
    std::string description = {};
    Json schema = {};
};
template <>
inline constexpr auto rows<ToolEntry> = object(
    "Tool", "", field("name", &ToolEntry::name),
    field("agents", &ToolEntry::agents, "The agents that may call it."),
    field("description", &ToolEntry::description, "The tool's own description; may be empty."),
    field("inputSchema", &ToolEntry::schema,
          {.about = "JSON Schema of its arguments.",
           .more = R"("type":["object","null"],"properties":{})"}));

// One session that a repair found damaged.
struct Repaired {
    Ref<runner::RepairReport::Found> found;
    std::string_view next;
};
template <>
inline constexpr auto rows<Repaired> =
    object("", "",
           of(&Repaired::found, field("sessionID", &runner::RepairReport::Found::session),
              field("what", &runner::RepairReport::Found::what),
              field("repaired", &runner::RepairReport::Found::repaired)),
           field("next", &Repaired::next));

struct RepairAnswer {
    Ref<runner::RepairReport> report;
    std::vector<Repaired> found;
    [[nodiscard]] std::optional<std::string> next() const {
        auto const& place = report.get().next;
        return place ? std::optional(std::to_string(*place)) : std::nullopt;
    }
};
template <>
inline constexpr auto rows<RepairAnswer> =
    object("RepairReport", "",
           of(&RepairAnswer::report, field("sessions", &runner::RepairReport::sessions),
              field("events", &runner::RepairReport::events)),
           field("found", &RepairAnswer::found), field("next", &RepairAnswer::next));

}  // namespace dormouse::http
