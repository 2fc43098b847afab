#include "wire/view/view.h"

#include "json/json.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>

namespace dormouse::wire {
namespace {

using namespace dormouse::session;
using namespace dormouse::session::testing;

std::string shown(ViewCall const& call) {
    std::string out =
        " [" + call.tool + std::to_string(call.call) + " " + std::string(call.input.text());
    out += call.open ? " open " : " = ";
    return out + (call.error ? "error " + call.error_text : std::string(call.output.text())) + "]";
}

// "user: hello", "assistant: well [deploy1 {…} open {…}]", "result: [deploy1 {…} = "ok"]"
std::string shown(ViewMessage const& message) {
    std::string out = message.role == ViewMessage::Role::assistant ? "assistant:" : "user:";
    if (message.role == ViewMessage::Role::user && message.source == InputSource::result)
        out = "result:";
    dormouse::json::View(message.parts).elements([&](dormouse::json::View part) {
        out += " " + part["text"].string_or("?");
    });
    for (ViewCall const& call : message.calls) out += shown(call);
    return out;
}

std::vector<std::string> shown(ModelView const& view) {
    std::vector<std::string> out;
    for (ViewMessage const& message : view.messages) out.push_back(shown(message));
    return out;
}

// Returns the view of the session's newest request.
std::vector<std::string> seen(Given const& given) {
    return shown(model_view(wire::testing::history_of(given), given.turn().request->view_seq));
}

using Lines = std::vector<std::string>;
std::string const to = R"({"to":"production"})";
std::string const waits = R"( open {"status":"pending"}])";

class View : public ::testing::Test, protected Given {
protected:
    void TearDown() override { EXPECT_EQ(broken(), ""); }
    PauseTerms queued() const {
        PauseTerms terms;
        terms.placeholder = Json::trusted(R"({"status":"queued"})");
        return terms;
    }
};

TEST_F(View, Outcome_FollowsTheReplyThatMadeTheCall) {
    waits_for({job("a"), job("b")});
    (void)submit(pending(2), result("second"));
    (void)submit(pending(1), error("broke"));
    EXPECT_EQ(seen(*this),
              (Lines{"user: please", "assistant: well [a1 " + to + " = error broke] [b2 " + to +
                                         " = \"second\"]"}));
}

TEST_F(View, UnseenPlaceholder_IsReplacedByTheOutcome) {
    terms.join = {1, false};
    waits_for({job("a"), job("b")});
    (void)submit(pending(1), result("one"));
    EXPECT_EQ(seen(*this)[1], "assistant: well [a1 " + to + " = \"one\"] [b2 " + to + waits);
    (void)model_fails(
        true);  // the request is not committed: what comes meanwhile is seen by the next attempt
    (void)submit(pending(2), result("two"));
    (void)later(Duration(60'000));
    EXPECT_EQ(seen(*this), (Lines{"user: please", "assistant: well [a1 " + to + " = \"one\"] [b2 " +
                                                      to + " = \"two\"]"}));
}

TEST_F(View, SeenPlaceholder_Stays_OutcomeComesLater) {
    terms.join = {1, false};
    waits_for({job("a"), job("b")});
    (void)submit(pending(1), result("one"));
    Lines const first = seen(*this);
    (void)reply();
    (void)submit(pending(2), result("two"));
    Lines const second = seen(*this);
    ASSERT_EQ(second.size(), 4U);
    EXPECT_EQ(Lines(second.begin(), second.begin() + 2), first);
    EXPECT_EQ(second[2], "assistant: well");
    EXPECT_EQ(second[3], "result: [b2 " + to + " = \"two\"]");  // names call, tool and arguments
}

TEST_F(View, ToolsPlaceholder_IsShownWhileItWaits) {
    asks_for({job()});
    (void)pauses(1, queued());
    (void)prompt("and?", PromptMode::steer);
    EXPECT_EQ(
        seen(*this),
        (Lines{"user: please", "assistant: well [deploy1 " + to + R"( open {"status":"queued"}])",
               "user: and?"}));
}

TEST_F(View, ChainedPause_KeepsTheFirstPlaceholder) {
    asks_for({gated(job())});
    (void)gate(1, pause_for(PauseReason::approval));
    (void)prompt("and?", PromptMode::steer);
    Lines const first = seen(*this);
    EXPECT_EQ(first[1], "assistant: well [deploy1 " + to + waits);
    (void)reply();
    (void)submit(pending(1), decision(true));
    (void)gate(1, GateOutcome::Allow{});
    (void)pauses(1, queued());  // allowed; now the call waits for the job itself
    (void)prompt("still?", PromptMode::steer);
    Lines const second = seen(*this);
    ASSERT_GE(second.size(), first.size());
    EXPECT_EQ(Lines(second.begin(), second.begin() + 3), first);
}

TEST_F(View, ChangedArguments_AreShownOnlyWithTheOutcome) {
    asks_for({gated(plain())});
    (void)gate(1, pause_for(PauseReason::approval));
    (void)prompt("and?", PromptMode::steer);
    Lines const first = seen(*this);
    (void)reply();
    (void)submit(pending(1), decision(true));
    Json const edited = Json::trusted(R"({"to":"staging"})");
    (void)gate(1, GateOutcome::Allow{edited, sha256(edited.text())});
    (void)finish(1, "ok");
    Lines const second = seen(*this);
    EXPECT_EQ(Lines(second.begin(), second.begin() + 3), first);
    EXPECT_EQ(second.back(), R"(result: [read1 {"to":"staging"} = "ok"])");
}

TEST_F(View, SteerDuringARequest_FollowsItsReply) {
    (void)create();
    (void)prompt("first");
    EXPECT_EQ(seen(*this), Lines{"user: first"});
    (void)prompt("second", PromptMode::steer);
    (void)reply();
    EXPECT_EQ(seen(*this), (Lines{"user: first", "assistant: well", "user: second"}));
}

TEST_F(View, OutcomeDuringARequest_FollowsItsReply) {
    terms.join = {1, false};
    waits_for({job("a"), job("b")});
    (void)submit(pending(1), result("one"));
    (void)submit(pending(2), result("two"));  // the request was sent before and does not see it
    EXPECT_EQ(seen(*this)[1], "assistant: well [a1 " + to + " = \"one\"] [b2 " + to + waits);
    (void)reply();
    EXPECT_EQ(seen(*this).back(), "result: [b2 " + to + " = \"two\"]");
}

TEST_F(View, QueuedPrompt_IsSeenWhenItsTurnBegins) {
    waits_for({job()});
    (void)prompt("later", PromptMode::queue);
    (void)submit(pending(1), result("ok"));
    EXPECT_EQ(seen(*this).size(), 2U);
    (void)reply();
    Lines const next = seen(*this);
    EXPECT_EQ(next.back(), "user: later");
    EXPECT_EQ(next.size(), 4U);
}

TEST_F(View, PromptThatAnswers_IsTheOutcomeAndNoSecondMessage) {
    asks_for({pausing(PauseReason::user_input)});
    (void)pauses(1, pause_for(PauseReason::user_input));
    (void)prompt("blue");
    EXPECT_EQ(seen(*this),
              (Lines{"user: please", "assistant: well [ask_human1 " + to + " = \"blue\"]"}));
}

TEST_F(View, Fork_BeginsWithItsGivenMessages) {
    Json const past = Json::trusted(R"([{"role":"user","parts":[{"type":"text","text":"hi"}]},
        {"role":"assistant","parts":[{"type":"text","text":"well"},
        {"type":"tool","callID":"call_1","tool":"a",
         "state":{"status":"completed","input":{"x":1},"output":[2]}},
        {"type":"tool","callID":"call_2","tool":"b",
         "state":{"status":"error","input":{},"error":"stays with session S",
          "reason":"cancelled"}}]}])");
    (void)when(Create{id,
                      "default",
                      "coder",
                      {},
                      {},
                      {},
                      {},
                      {},
                      Create::ForkOf{SessionId::make(3, {}), 9, past, 2}});
    (void)prompt("continue");
    EXPECT_EQ(seen(*this),
              (Lines{"user: hi",
                     R"(assistant: well [a0 {"x":1} = [2]] [b0 {} = error stays with session S])",
                     "user: continue"}));
}

History history_with(std::vector<Event::Body> bodies) {
    SessionId const id = SessionId::make(7, {});
    History out(id);
    Seq seq = 0;
    for (Event::Body& body : bodies) out.add(*record(id, {++seq, {}, 1, {}, std::move(body)}));
    return out;
}

TEST(ViewLimit, Messages_OfExactlyTheLimit_LoseTheOldestHundred) {
    auto const count = [](std::size_t before) {
        std::string messages;
        for (std::size_t i = 0; i < before; ++i)
            messages += std::string(i == 0 ? "[" : ",") + R"({"role":"user","parts":[]})";
        InputReceived input;
        input.turn = 1;
        input.parts = Given::parts("go");
        Forked forked;
        forked.messages = Json::trusted(messages + "]");
        return model_view(
                   history_with({SessionCreated{}, forked, input, TurnStarted{1, 3, {}, {}}}), 4)
            .messages.size();
    };
    EXPECT_EQ(count(view_messages_max - 2), view_messages_max - 1);
    EXPECT_EQ(count(view_messages_max - 1), view_messages_max - view_messages_leave);
}

}  // namespace
}  // namespace dormouse::wire
