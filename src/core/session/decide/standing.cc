#include "session/standing.h"

#include "session/decide/decider.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"

#include <algorithm>

namespace dormouse::session {

namespace {

// A role in the list is that of the creator: a question that was passed on to other people has no
// definition, so only those who were asked first can make a rule.
bool is_asked(AnswerTerms const& terms, Actor const& by) {
    return terms.from.empty() || std::ranges::any_of(terms.from, [&](std::string const& from) {
               return from == by.name || from.starts_with("role:");
           });
}

bool is_possible(PauseTerms const& terms) {
    return terms.reason == PauseReason::approval && terms.continuation == Continuation::reentry &&
           terms.answer.need == 1 && !terms.always_ask && terms.definition.has_value();
}

bool is_about(StandingRule const& rule, State const& state, Call const& call,
              std::string const& gate) {
    bool const here = rule.terms.scope == RuleScope::project || rule.session == state.id;
    return here && rule.project == state.project && rule.agent == state.agent &&
           rule.gate == gate && rule.tool == call.spec.tool;
}

std::unexpected<Error> no_rule(std::string const& member, std::string const& why) {
    std::string const pointer = "/rule" + member;
    return fail(Code::bad_value, pointer + ": " + why, object_json("pointer", pointer));
}

}  // namespace

StandingRule const* rule_for(MatchingRules const& rules, State const& state, Call const& call,
                             std::string const& gate, PauseTerms const& terms, Time at) {
    if (!is_possible(terms) || !state.turn || call.spec.ask != 0) return nullptr;
    if (rules.input_digest != call.spec.input_digest) return nullptr;
    auto const answers = [&](RulePtr const& rule) {
        bool const whole = rule->terms.match.empty();
        if (whole && rule->input_digest != call.spec.input_digest) return false;
        bool const own = terms.answer.forbid_requester && state.turn->by == rule->by;
        return rule->definition == *terms.definition && is_about(*rule, state, call, gate) &&
               !rule->has_expired(at) && !own && is_asked(terms.answer, rule->by);
    };
    auto const found = std::ranges::find_if(rules.list, answers);
    return found == rules.list.end() ? nullptr : found->get();
}

std::optional<Error> refuse_rule(Call const& call, Offer const& offer, Actor const& by) {
    if (!offer.what.rule) return std::nullopt;
    RuleTerms const& rule = *offer.what.rule;
    FITS(call.phase != CallPhase::waiting || call.pause);
    bool const by_gate = call.phase == CallPhase::waiting && call.pause->by_gate;
    auto const refuse = [](std::string const& member, std::string const& why) {
        return no_rule(member, why).error();
    };
    if (!by_gate || call.spec.ask != 0 || !is_possible(call.pause->terms))
        return refuse("", "is not possible for this question; decide this call only");
    if (by.type != ActorType::token)
        return refuse("", "must be made by a person with a token; decide this call only");
    if (!offer.what.approved) return refuse("", "is for approvals; leave it out of a denial");
    if (!offer.what.arguments.is_null())
        return refuse("", "cannot be made with edited arguments; decide this call only");
    if (!offer.input_digest)
        return refuse("", "needs inputDigest, the digest of the arguments that you saw");
    if (rule.scope == RuleScope::project && !rule.lifetime)
        return refuse("/forMs", "is required for a rule of the project");
    return std::nullopt;
}

StandingRule rule_of(Decider const& d, Call const& call, Submission const& what) {
    CHECK(what.rule);
    FITS(call.pause && call.pause->by_gate && call.pause->terms.definition);
    StandingRule rule;
    rule.session = d.state.id;
    rule.seq = d.state.head + 1;
    rule.terms = *what.rule;
    rule.project = d.state.project;
    rule.agent = d.state.agent;
    rule.gate = gate_of(call);
    rule.tool = call.spec.tool;
    rule.definition = *call.pause->terms.definition;
    rule.input = call.spec.input;
    rule.input_digest = call.spec.input_digest;
    rule.by = d.command.by;
    rule.at = d.at;
    if (rule.terms.lifetime) rule.expires = d.at + *rule.terms.lifetime;
    return rule;
}

}  // namespace dormouse::session
