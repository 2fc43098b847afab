// Standing rules: those that may answer a question, and those that an append makes and uses.
#include "runner/lane/lane.h"

#include "base/check.h"

#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

// Looked up at the moment of the decision, so a rule that was revoked before answers nothing. An
// append that used it earlier is written before the revocation, by the same thread.
MatchingRules Lane::rules_for(Command const& command) const {
    CHECK(state_);
    auto const* const outcome = std::get_if<GateOutcome>(&command.body);
    auto const* const terms = outcome ? std::get_if<PauseTerms>(&outcome->what) : nullptr;
    if (!terms || !terms->definition) return {};
    auto const call = state_->calls.find(outcome->call);
    return call == state_->calls.end() ? MatchingRules()
                                       : services_.rules.matching(*state_, call->second);
}

void Lane::add_rules(Decision const& decision, port::Append& append) {
    for (StandingRule const& rule : decision.rules) {
        CHECK(rule.session == id_);
        append.rules.push_back(row_of(rule));
        made_.push_back(rule);
    }
    for (Event const& event : decision.events) {
        auto const* const decided = std::get_if<GateDecided>(&event.body);
        if (!decided || decided->rule.empty()) continue;
        append.rule_uses.push_back({decided->rule, event.at});
        rule_uses_.push_back({decided->rule, event.at});
    }
}

void Lane::take_up_rules() {
    CHECK(state_);
    for (StandingRule& rule : std::exchange(made_, {})) services_.rules.add(std::move(rule));
    for (port::RuleUse const& use : std::exchange(rule_uses_, {})) services_.rules.count(use);
    if (state_->lifecycle == Lifecycle::deleted) services_.rules.remove_of(id_);
}

}  // namespace dormouse::runner
