#include "agent/demo.h"

#include "base/text/text.h"

#include <gtest/gtest.h>

// The table of the demo agent: which calls a message leads to, and the reply when they have
// settled.
namespace dormouse::agent {
namespace {

using namespace session;
using Strings = std::vector<std::string>;

Json text_parts(std::string const& text) {
    return Json::trusted(R"([{"type":"text","text":")" + text + R"("}])");
}

ViewMessage user(std::string const& text) {
    return {ViewMessage::Role::user, InputSource::prompt, text_parts(text), {}};
}
ViewMessage spoke(std::vector<ViewCall> calls) {
    return {ViewMessage::Role::assistant, InputSource::prompt, Json::trusted("[]"),
            std::move(calls)};
}
ViewMessage late(ViewCall call) {
    return {ViewMessage::Role::user, InputSource::result, Json::trusted("[]"), {std::move(call)}};
}

ViewCall done(CallNo no, std::string tool, std::string input, std::string output) {
    ViewCall call;
    call.call = no;
    call.tool = std::move(tool);
    call.input = Json::trusted(std::move(input));
    call.output = Json::trusted(std::move(output));
    return call;
}
ViewCall failed(CallNo no, std::string tool, std::string input, ErrorReason why, std::string text) {
    ViewCall call = done(no, std::move(tool), std::move(input), "null");
    call.error = why;
    call.error_text = std::move(text);
    return call;
}
ViewCall open(CallNo no) {
    ViewCall call = done(no, "deploy", R"({"target":"A"})", R"({"status":"queued","target":"A"})");
    call.open = true;
    return call;
}

Reply reply_to(std::vector<ViewMessage> messages) {
    return DemoModel().reply({std::move(messages), 1});
}

// Returns the calls that a prompt leads to: "deploy {"target":"A"}".
Strings calls_for(std::string const& prompt) {
    Strings out;
    for (ModelCall const& call : reply_to({user(prompt)}).calls) {
        out.push_back(call.tool + " " + std::string(call.input.text()));
    }
    return out;
}

TEST(DemoModel, Prompts_LeadToTheCallsOfTheTable) {
    std::vector<std::pair<std::string, Strings>> const table{
        {"deploy A", {R"(deploy {"target":"A"})"}},
        {"deploy A and b-2 and c_3.x",
         {R"(deploy {"target":"A"})", R"(deploy {"target":"b-2"})",
          R"(deploy {"target":"c_3.x"})"}},
        {"deploy A within 5s", {R"(deploy {"target":"A","within":"5s"})"}},
        {"deploy A and B within 2h",
         {R"(deploy {"target":"A","within":"2h"})", R"(deploy {"target":"B","within":"2h"})"}},
        {"approve X", {R"(dangerous {"action":"X"})"}},
        {"approve-deploy X", {R"(approve_deploy {"target":"X"})"}},
        {"ask What now?", {R"(ask_human {"question":"What now?"})"}},
        {"ask Where? | north | south",
         {R"(ask_human {"question":"Where?","choices":[{"title":"north"},{"title":"south"}]})"}},
        {"wait 5s", {R"(wait_for {"for":"5s"})"}},
        {"fail", {"fail {}"}},
        {"sleepy 2s", {R"(sleepy {"for":"2s"})"}},
        {"sleepy-never 250ms", {R"(sleepy_never {"for":"250ms"})"}}};
    for (auto const& [prompt, calls] : table) {
        EXPECT_EQ(calls_for(prompt), calls) << prompt;
        EXPECT_EQ(reply_to({user(prompt)}).text, "") << prompt;
    }
}

TEST(DemoModel, OtherPrompts_AreEchoed) {
    for (std::string const& prompt :
         {std::string("hello"), std::string(""), std::string("Deploy A"), std::string("deploy"),
          std::string("deploy A and"), std::string("deploy A or B"), std::string("deploy a/b"),
          std::string("deploy  A"), "deploy " + std::string(65, 'x'), std::string("approve"),
          std::string("approve X Y"), std::string("wait soon"), std::string("wait 5s please"),
          std::string("fail now"), std::string("ask "), std::string("sleepy")}) {
        EXPECT_TRUE(calls_for(prompt).empty()) << prompt;
        EXPECT_EQ(reply_to({user(prompt)}).text, "You said: " + prompt);
    }
}

TEST(DemoModel, SeveralMessages_TheLastDecides) {
    Reply const reply = reply_to({user("deploy A"), spoke({}), user("wait 5s")});
    ASSERT_EQ(reply.calls.size(), 1U);
    EXPECT_EQ(reply.calls[0].tool, "wait_for");
}

TEST(DemoModel, Reply_HasOneLinePerCallInRequestOrder) {
    std::string const a = R"({"target":"A"})";
    auto const reply = reply_to(
        {user("go"),
         spoke(
             {done(1, "deploy", a, "\"live\""),
              done(2, "deploy", R"({"target":"B"})", R"({"ok":true})"),
              failed(3, "deploy", R"({"target":"C"})", ErrorReason::failed, "disk full"),
              failed(4, "deploy", a, ErrorReason::expired, "Tool execution timed out"),
              failed(5, "deploy", a, ErrorReason::cancelled, "cancelled"),
              failed(6, "sleepy_never", R"({"for":"2s"})", ErrorReason::unknown, "outcome unknown"),
              failed(7, "dangerous", R"({"action":"X"})", ErrorReason::denied,
                     "denied: not on Friday"),
              done(8, "ask_human", R"({"question":"Q"})", "\"blue\""),
              done(9, "wait_for", R"({"for":"5s"})", "\"done\""),
              failed(10, "fail", "{}", ErrorReason::failed, "this tool always fails")})});
    EXPECT_EQ(reply.text,
              "deploy A: live\n"
              "deploy B: {\"ok\":true}\n"
              "deploy C failed: disk full\n"
              "deploy A failed: Tool execution timed out\n"
              "deploy A failed: cancelled\n"
              "sleepy_never 2s failed: outcome unknown\n"
              "dangerous X failed: denied: not on Friday\n"
              "ask_human Q: blue\n"
              "wait_for 5s: done\n"
              "fail failed: this tool always fails");
    EXPECT_TRUE(reply.calls.empty());
}

TEST(DemoModel, OpenCalls_ReplyCoversNewlySettledOnes) {
    ViewCall const one = done(1, "deploy", R"({"target":"A"})", "\"one\"");
    ViewCall const two = done(2, "deploy", R"({"target":"B"})", "\"two\"");
    Reply const first = reply_to({user("go"), spoke({one, open(2)})});
    EXPECT_EQ(first.text, "deploy A: one");
    Reply const second = reply_to({user("go"), spoke({one, open(2)}), spoke({}), late(two)});
    EXPECT_EQ(second.text, "deploy B: two");
}

TEST(DemoModel, PromptAndOutcome_AreBothAnswered) {
    Reply const talk = reply_to({user("go"), spoke({open(1)}), user("and?")});
    EXPECT_EQ(talk.text, "You said: and?");
    Reply const both = reply_to({user("go"), spoke({open(1)}), spoke({}),
                                 late(done(1, "deploy", R"({"target":"A"})", "7")), user("fail")});
    EXPECT_EQ(both.text, "deploy A: 7");
    ASSERT_EQ(both.calls.size(), 1U);
    EXPECT_EQ(both.calls[0].tool, "fail");
}

TEST(DemoModel, Usage_FourCharactersAreOneTokenRoundedUp) {
    EXPECT_EQ(reply_to({user("12345")}).usage.input_tokens, 2);
    EXPECT_EQ(reply_to({user("1234")}).usage.input_tokens, 1);
    EXPECT_EQ(reply_to({user("äöüß")}).usage.input_tokens, 1);   // characters, not bytes
    EXPECT_EQ(reply_to({user("1234")}).usage.output_tokens, 4);  // "You said: 1234"
    EXPECT_EQ(reply_to({user("1234")}).usage.cached_tokens, 0);
}

TEST(Duration, NumberAndUnit_IsRead) {
    EXPECT_EQ(parse_duration("250ms"), dormouse::Duration(250));
    EXPECT_EQ(parse_duration("5s"), dormouse::Duration(5'000));
    EXPECT_EQ(parse_duration("3m"), dormouse::Duration(180'000));
    EXPECT_EQ(parse_duration("2h"), dormouse::Duration(7'200'000));
    EXPECT_EQ(parse_duration("1d"), dormouse::Duration(86'400'000));
    EXPECT_EQ(parse_duration("0s"), dormouse::Duration(0));
    EXPECT_EQ(parse_duration("999999999d"), dormouse::Duration(999'999'999LL * 86'400'000));
}

TEST(Duration, OtherForm_IsNone) {
    for (std::string_view const text : {"", "5", "s", "5 s", "-5s", "+5s", "1.5s", "5sec", "5S",
                                        "s5", "1234567890s", "5s ", " 5s", "05", "١s"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
    EXPECT_FALSE(parse_duration("05s"));  // a leading zero is not allowed
}

}  // namespace
}  // namespace dormouse::agent
