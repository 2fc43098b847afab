#include "session/testing/session_fixture.h"

// Standing rules: made with an approval, they answer only the same question about matching
// arguments.
namespace dormouse::session::testing {
namespace {

class StandingTest : public SessionTest {
protected:
    static Sha256 defined(std::string const& what = "gate and tool") { return sha256(what); }
    static PauseTerms question() {
        PauseTerms terms = pause_for(PauseReason::approval);
        terms.definition = defined();
        return terms;
    }
    // A submission of the shown arguments, with a rule.
    Decision approve(PendingId const& pending, RuleTerms rule, bool approved = true) {
        Submission what = decision(approved);
        what.rule = std::move(rule);
        Submit submit{pending, what, "http", {}, {}, {}};
        submit.input_digest = plain().input_digest;
        return when(std::move(submit));
    }
    std::string refused(PauseTerms terms, RuleTerms rule = {}) {
        asks_for({gated(plain())});
        (void)gate(1, std::move(terms));
        auto const d = approve(pending(1), std::move(rule));
        EXPECT_TRUE(d.rules.empty());
        return answer_of(d);
    }
    // A rule that answers the question about this call.
    StandingRule rule() const {
        StandingRule out;
        out.session = id;
        out.seq = 1;
        out.project = state.project;
        out.agent = state.agent;
        out.gate = "approve";
        out.tool = "read";
        out.definition = defined();
        out.input = plain().input;
        out.input_digest = plain().input_digest;
        out.by = {ActorType::token, "carol"};
        out.at = now;
        return out;
    }
    // Returns the decision about the call's question when the lane has found this rule.
    Decision answer_of_rule(StandingRule found, PauseTerms terms = question(),
                            std::optional<Sha256> matched_for = {}) {
        auto request = request_of(GateOutcome{1, "approve", std::move(terms)});
        request.context.rules.list = {std::make_shared<StandingRule const>(std::move(found))};
        request.context.rules.input_digest =
            matched_for.value_or(state.calls.at(1).spec.input_digest);
        State copy = state;
        return request.decided_on(copy);
    }
    std::string answered(StandingRule found, PauseTerms terms = question(),
                         std::optional<Sha256> matched_for = {}) {
        return types(answer_of_rule(std::move(found), std::move(terms), matched_for));
    }
};

constexpr auto yes = "gate_decided tool_started";
constexpr auto asks = "gate_asked";

TEST_F(StandingTest, Approval_MakesTheRuleThatThePersonChose) {
    asks_for({gated(plain())});
    (void)gate(1, question());
    auto const d = approve(pending(1), {RuleScope::project, {"to"}, Duration(60'000)});
    ASSERT_EQ(d.rules.size(), 1U);
    StandingRule const& made = d.rules.front();
    EXPECT_EQ(made.seq, first<Submitted>(d).receipt.seq);
    EXPECT_EQ(made.id(), numbered_id("rul_", id, made.seq));
    EXPECT_EQ(made.gate, "approve");
    EXPECT_EQ(made.tool, "read");
    EXPECT_EQ(made.definition, defined());
    EXPECT_EQ(made.input, plain().input);
    EXPECT_EQ(made.by, by);
    EXPECT_EQ(made.expires, made.at + Duration(60'000));
    EXPECT_TRUE(d.answer->rule);
    EXPECT_EQ(first<Submitted>(d).what->rule->match, std::vector<std::string>{"to"});
}

TEST_F(StandingTest, RepeatedApproval_MakesNoSecondRule) {
    asks_for({gated(plain())});
    (void)gate(1, question());
    PendingId const pending_id = pending(1);
    (void)approve(pending_id, {});
    auto const again = approve(pending_id, {});
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_TRUE(again.rules.empty());
}

TEST_F(StandingTest, Rule_IsRefusedWhereItIsNotPossible) {
    EXPECT_EQ(refused(pause_for(PauseReason::approval)), "bad_value") << "no definition";
}
TEST_F(StandingTest, Rule_IsRefusedForGatesThatAlwaysAsk) {
    PauseTerms terms = question();
    terms.always_ask = true;
    EXPECT_EQ(refused(terms), "bad_value");
}
TEST_F(StandingTest, Rule_IsRefusedWhereSeveralMustAgree) {
    PauseTerms terms = question();
    terms.answer.need = 2;
    EXPECT_EQ(refused(terms), "bad_value");
}
TEST_F(StandingTest, Rule_OfTheProjectNeedsAnEnd) {
    EXPECT_EQ(refused(question(), {RuleScope::project, {}, {}}), "bad_value");
}

TEST_F(StandingTest, Rule_NeedsAnApprovalOfTheShownArgumentsByAToken) {
    asks_for({gated(plain())});
    (void)gate(1, question());
    PendingId const pending_id = pending(1);
    EXPECT_EQ(answer_of(approve(pending_id, {}, false)), "bad_value");
    Submission what = decision(true);
    what.rule.emplace();
    EXPECT_EQ(answer_of(when(Submit{pending_id, what, "http", {}, {}, {}})), "bad_value")
        << "no digest";
    what.arguments = json(R"({"to":"staging"})");
    Submit edited{pending_id, what, "http", {}, {}, {}};
    edited.input_digest = plain().input_digest;
    EXPECT_EQ(answer_of(when(std::move(edited))), "bad_value");
    by = {ActorType::session, "ses_1"};
    EXPECT_EQ(answer_of(approve(pending_id, {})), "bad_value");
    EXPECT_EQ(state.waiting, 1U) << "it still waits";
}

TEST_F(StandingTest, Rule_IsRefusedOnceOtherPeopleAreAsked) {
    asks_for({gated(plain())});
    PauseTerms terms = question();
    terms.timeout = Duration(1'000);
    terms.escalate_to = {"ann"};
    (void)gate(1, terms);
    now += Duration(1'000);
    EXPECT_EQ(types(when(Tick{})), "reassigned");
    EXPECT_EQ(answer_of(approve(pending(1), {})), "bad_value");
}

TEST_F(StandingTest, MatchingRule_AnswersInPlaceOfAPerson) {
    asks_for({gated(plain())});
    auto const d = answer_of_rule(rule());
    EXPECT_EQ(types(d), yes);
    EXPECT_EQ(first<GateDecided>(d).rule, rule().id());
    EXPECT_EQ(first<GateDecided>(d).by, rule().by);
    EXPECT_TRUE(first<GateDecided>(d).allowed);
    EXPECT_FALSE(first<GateDecided>(d).input);
}

TEST_F(StandingTest, RuleOfAnythingElse_AnswersNothing) {
    asks_for({gated(plain())});
    using Change = std::function<void(StandingRule&)>;
    std::vector<std::pair<std::string, Change>> const changes = {
        {"project", [](StandingRule& r) { r.project = "other"; }},
        {"agent", [](StandingRule& r) { r.agent = "other"; }},
        {"gate", [](StandingRule& r) { r.gate = "other"; }},
        {"tool", [](StandingRule& r) { r.tool = "other"; }},
        {"session", [](StandingRule& r) { r.session.bytes[15] = 8; }},
        {"definition", [](StandingRule& r) { r.definition = defined("other"); }},
        {"input", [](StandingRule& r) { r.input_digest = sha256("other"); }},
        {"expired", [this](StandingRule& r) { r.expires = now; }},
    };
    EXPECT_EQ(answered(rule()), yes);
    for (auto const& [what, change] : changes) {
        StandingRule changed = rule();
        change(changed);
        EXPECT_EQ(answered(std::move(changed)), asks) << what;
    }
}

TEST_F(StandingTest, RuleOfTheProject_AnswersInOtherSessions) {
    asks_for({gated(plain())});
    StandingRule made = rule();
    made.terms.scope = RuleScope::project;
    made.session.bytes[15] = 8;
    made.expires = now + Duration(3'600'000);
    EXPECT_EQ(answered(made), yes);
}

TEST_F(StandingTest, QuestionThatCannotHaveARule_IsAsked) {
    asks_for({gated(plain())});
    PauseTerms terms = question();
    terms.always_ask = true;
    EXPECT_EQ(answered(rule(), terms), asks);
    terms = question();
    terms.answer.need = 2;
    EXPECT_EQ(answered(rule(), terms), asks);
    terms = question();
    terms.definition.reset();
    EXPECT_EQ(answered(rule(), terms), asks);
    terms = question();
    terms.reason = PauseReason::elicitation;
    EXPECT_EQ(answered(rule(), terms), asks);
}

TEST_F(StandingTest, RuleOfWhoMayNotAnswer_IsNotUsed) {
    asks_for({gated(plain())});
    PauseTerms terms = question();
    terms.answer.from = {"dave"};
    EXPECT_EQ(answered(rule(), terms), asks);
    terms.answer.from = {"dave", "carol"};
    EXPECT_EQ(answered(rule(), terms), yes);
    terms = question();
    terms.answer.forbid_requester = true;
    EXPECT_EQ(answered(rule(), terms), yes);
    StandingRule own = rule();
    own.by = state.turn->by;
    EXPECT_EQ(answered(own, terms), asks);
    EXPECT_EQ(answered(own), yes);
}

TEST_F(StandingTest, RuleFoundForOtherArguments_IsNotUsed) {
    asks_for({gated(plain())});
    StandingRule part = rule();
    part.terms.match = {"to"};
    part.input_digest = sha256("other arguments");
    EXPECT_EQ(answered(part), yes) << "the lane compared the members";
    EXPECT_EQ(answered(part, question(), sha256("arguments before an edit")), asks);
}

}  // namespace
}  // namespace dormouse::session::testing
