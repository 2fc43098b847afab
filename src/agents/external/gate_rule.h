#pragma once
// A gate of the configuration: a person is asked before the tools that it names run. See
// docs/how-to/approvals.md.

#include "agent/tool.h"
#include "external/condition.h"

namespace dormouse::external {

struct GateRule {
    std::string name;                // the journal names the gate by it
    std::vector<std::string> tools;  // names; `*` matches any text
    // It asks only if all of these hold; empty: always.
    std::vector<Condition> when = {};
    std::string ask = {};  // "Deploy {input.ref}?"; empty: a default text
    session::AnswerTerms answer = {};
    std::optional<Duration> timeout = {};  // nullopt: none
    session::OnDeadline on_expiry = session::OnDeadline::deny;
    // The people who are asked next if nobody answers in time, for as long again; on_expiry applies
    // after that.
    std::vector<std::string> escalate_to = {};
    std::optional<Duration> warn_before = {};  // before the deadline
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
    bool always_ask = false;  // no standing rule answers it
};

// Returns the digest of the gate's question, answerers and calls, without times. nullopt: no
// standing rule answers it, because it always asks, or because several people must agree.
[[nodiscard]] std::optional<Sha256> definition_of(GateRule const& rule);

[[nodiscard]] agent::Gate make_gate(GateRule rule);

// Replaces {tool}, {input} and {input.NAME}: strings as they are, other values as compact JSON,
// missing values as "(none)". Everything else stays.
[[nodiscard]] std::string fill_question(std::string_view text, std::string_view tool,
                                        Json const& input);

}  // namespace dormouse::external
