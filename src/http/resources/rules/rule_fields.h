#pragma once
// The members of standing rules (http/objects/fields.h).

#include "http/objects/object_fields.h"
#include "runner/rules.h"

namespace dormouse::http {

struct RuleSource {
    runner::Rules::Entry entry;

    [[nodiscard]] StandingRule const& rule() const { return *entry.rule; }
};
template <>
inline constexpr auto rows<RuleSource> = object(
    "Rule", "A person's approval of later calls like one that they saw.",
    of(&RuleSource::rule, field("id", &StandingRule::id),
       of(&StandingRule::terms, field("scope", &RuleTerms::scope)),
       field("projectID", &StandingRule::project),
       field("sessionID", &StandingRule::session, "Where it was made."),
       field("agentID", &StandingRule::agent), field("gate", &StandingRule::gate),
       field("tool", &StandingRule::tool),
       field("input", &StandingRule::input, "The arguments that the person saw."),
       of(&StandingRule::terms,
          field("match", or_null(&RuleTerms::match),
                "The arguments that must be equal; the others may differ. null: all.")),
       field("by", &StandingRule::by, "The person who made it.")),
    of(&RuleSource::entry, field("uses", &runner::Rules::Entry::uses)),
    nested("time", "",
           of(&RuleSource::rule, field("created", &StandingRule::at),
              field("expires", &StandingRule::expires, "null: when its session ends.")),
           of(&RuleSource::entry, field("used", &runner::Rules::Entry::used, "The newest use."))));

}  // namespace dormouse::http
