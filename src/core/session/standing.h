#pragma once
// Standing rules: a person's approval of later calls like one that they saw. A rule answers a
// question only if it is the same question (project, agent, gate, tool, and the definitions of gate
// and tool) about arguments that match; in doubt a person is asked. The lane finds whether
// arguments match (wire/standing.h), because this layer reads no JSON.

#include "session/vocabulary.h"

#include <memory>
#include <string>
#include <vector>

namespace dormouse::session {

struct State;
struct Call;

struct StandingRule {
    SessionId session;  // where it was made
    Seq seq = 0;        // of the event that made it
    RuleTerms terms = {};
    std::string project = {};
    std::string agent = {};
    std::string gate = {};
    std::string tool = {};
    Sha256 definition = {};  // PauseTerms::definition of the question
    Json input = {};         // the arguments that the person saw
    Sha256 input_digest = {};
    Actor by = {};  // who made it
    Time at = {};
    std::optional<Time> expires = {};

    [[nodiscard]] std::string id() const { return numbered_id("rul_", session, seq); }
    [[nodiscard]] bool has_expired(Time now) const { return expires && *expires <= now; }
    friend bool operator==(StandingRule const&, StandingRule const&) = default;
};

using RulePtr = std::shared_ptr<StandingRule const>;

// Rules whose arguments match those with the digest `input_digest`, newest first.
struct MatchingRules {
    std::vector<RulePtr> list = {};
    Sha256 input_digest = {};
};

// The rule that answers the question `terms` of `gate` about the call; nullptr: none.
[[nodiscard]] StandingRule const* rule_for(MatchingRules const& rules, State const& state,
                                           Call const& call, std::string const& gate,
                                           PauseTerms const& terms, Time at);

}  // namespace dormouse::session
