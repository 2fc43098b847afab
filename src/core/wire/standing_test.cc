#include "wire/standing.h"

#include "json/json.h"
#include "wire/submission.h"

#include <gtest/gtest.h>

#include <map>

namespace dormouse::wire {
namespace {

using namespace session;

StandingRule rule(std::string input, std::vector<std::string> match = {}) {
    StandingRule out;
    out.session = SessionId::make(3, {1});
    out.seq = 9;
    out.terms.match = std::move(match);
    out.project = "default";
    out.agent = "ops";
    out.gate = "deploys";
    out.tool = "deploy";
    out.definition = sha256("definition");
    out.input = Json::trusted(std::move(input));
    out.input_digest = sha256(json::canonical(out.input));
    out.by = {ActorType::token, "alice"};
    out.at = from_ms(1'000);
    return out;
}

bool matches(StandingRule const& made, std::string input) {
    Json const now = Json::trusted(std::move(input));
    return wire::matches(made, now, sha256(json::canonical(now)));
}

TEST(RuleRow, WrittenRule_IsReadUnchanged) {
    StandingRule made = rule(R"({"a":"é","b":1.50})", {"a"});
    EXPECT_EQ(read_rule(write_rule(made)).value(), made);
    made.terms = {RuleScope::project, {}, Duration(5)};
    made.expires = from_ms(1'005);
    EXPECT_EQ(read_rule(write_rule(made)).value(), made);
}

TEST(RuleRow, IncompleteText_IsNoRule) {
    std::string const whole = write_rule(rule("{}"));
    EXPECT_TRUE(read_rule(whole));
    for (std::string const member :
         {"\"seq\":9", R"("project":"default")", R"("gate":"deploys")", R"("tool":"deploy")"}) {
        std::string text = whole;
        text.replace(text.find(member), member.size(), "\"x\":0");
        EXPECT_FALSE(read_rule(text)) << text;
    }
    StandingRule endless = rule("{}");
    endless.terms.scope = RuleScope::project;
    EXPECT_FALSE(read_rule(write_rule(endless))) << "a rule of the project has an end";
    EXPECT_FALSE(read_rule(""));
    EXPECT_FALSE(read_rule("[]"));
}

TEST(RuleMatch, All_ComparesTheWholeInCanonicalForm) {
    StandingRule const made = rule(R"({"a":1,"b":{"c":["x",null]}})");
    EXPECT_TRUE(matches(made, R"({"b":{"c":["x",null]},"a":1})"));
    EXPECT_TRUE(matches(made, R"({"a":1.0,"b":{"c":["\u0078",null]}})"));
    for (std::string const other :
         {R"({"a":1,"b":{"c":["x",null]},"d":0})", R"({"a":1})", R"({"a":2,"b":{"c":["x",null]}})",
          R"({"a":"1","b":{"c":["x",null]}})", R"({"a":1,"b":{"c":[null,"x"]}})",
          R"({"a":1,"b":{"c":["X",null]}})", "{}", "[]", "null"})
        EXPECT_FALSE(matches(made, other)) << other;
}

TEST(RuleMatch, Texts_AreNotNormalised) {
    EXPECT_FALSE(matches(rule(R"({"a":"é"})"), R"({"a":"e\u0301"})"));
    EXPECT_FALSE(matches(rule(R"({"a":"é"})", {"a"}), R"({"a":"e\u0301"})"));
    EXPECT_FALSE(matches(rule(R"({"a":"prod"})", {"a"}), R"({"a":"prod\u200b"})"));
    EXPECT_FALSE(matches(rule(R"({"a":9007199254740993})", {"a"}), R"({"a":9007199254740992})"));
}

TEST(RuleMatch, SomeMembers_OthersMayDifferButNotComeOrGo) {
    StandingRule const made = rule(R"({"env":"prod","ref":"v1"})", {"env"});
    EXPECT_TRUE(matches(made, R"({"ref":"v2","env":"prod"})"));
    EXPECT_TRUE(matches(made, R"({"ref":{"any":1},"env":"prod"})"));
    for (std::string const other :
         {R"({"env":"test","ref":"v1"})", R"({"env":"prod"})",
          R"({"env":"prod","ref":"v1","force":true})", R"({"env":"prod","Ref":"v1"})",
          R"({"env":["prod"],"ref":"v1"})", R"({"env":null,"ref":"v1"})", R"(["prod","v1"])"})
        EXPECT_FALSE(matches(made, other)) << other;
}

TEST(RuleMatch, OtherValuesThanObjects_MatchOnlyAsAWhole) {
    EXPECT_TRUE(matches(rule("[1]"), "[1.0]"));
    EXPECT_FALSE(matches(rule("[1]", {"0"}), "[1]"));
}

TEST(RuleNames, Match_NotAnArgumentOfTheCall_IsRefused) {
    Json const input = Json::trusted(R"({"a":1,"":2})");
    EXPECT_EQ(unmatched({"a", ""}, input), "");
    EXPECT_EQ(unmatched({"b"}, input), "names 'b', which is not an argument of this call");
    EXPECT_NE(unmatched({"a"}, Json::trusted("[1]")), "");
}

TEST(DecisionDigest, Rule_IsPartOfIt) {
    auto const digest = [](std::optional<RuleTerms> terms) {
        return submitted_decision(true, "", {}, {}, std::move(terms)).digest;
    };
    EXPECT_EQ(digest({}), submitted_decision(true, "why", {}, {}).digest);
    EXPECT_NE(digest({}), digest(RuleTerms{}));
    EXPECT_NE(digest(RuleTerms{}), digest(RuleTerms{.match = {"a"}}));
}

using Members = std::map<std::string, int>;

// Every object with some of three names and two values.
std::vector<Members> objects() {
    std::vector<Members> out = {{}};
    for (std::string const name : {"a", "A", "b"}) {
        std::vector<Members> more;
        for (Members const& one : out) {
            for (int const value : {1, 2}) {
                more.push_back(one);
                more.back().emplace(name, value);
            }
        }
        out.insert(out.end(), more.begin(), more.end());
    }
    return out;
}

std::string text_of(Members const& members) {
    json::Writer out;
    out.begin_object();
    for (auto const& [name, value] : members) out.member(name, value);
    return out.end_object().take();
}

bool should_match(Members const& saw, Members const& now, std::vector<std::string> const& match) {
    if (match.empty()) return saw == now;
    bool out = saw.size() == now.size();
    for (auto const& [name, value] : saw) out = out && now.contains(name);
    for (auto const& name : match) out = out && saw.at(name) == now.at(name);
    return out;
}

TEST(RuleMatch, EverySmallObject_MatchesOnlyEqualMembersUnderTheSameNames) {
    for (Members const& saw : objects()) {
        for (unsigned chosen = 0; chosen < (1U << saw.size()); ++chosen) {
            std::vector<std::string> match;
            unsigned at = 0;
            for (auto const& [name, value] : saw) {
                if (((chosen >> at++) & 1U) != 0) match.push_back(name);
            }
            StandingRule const made = rule(text_of(saw), match);
            for (Members const& now : objects()) {
                EXPECT_EQ(matches(made, text_of(now)), should_match(saw, now, match))
                    << text_of(saw) << text_of(now) << match.size();
            }
        }
    }
}

}  // namespace
}  // namespace dormouse::wire
