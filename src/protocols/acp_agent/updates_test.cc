#include "acp_agent/updates.h"

#include <gtest/gtest.h>

namespace dormouse::acp_agent {
namespace {

class Updates : public testing::Test {
protected:
    AcpReport on_event(std::string const& type, std::string const& data,
                       std::string const& more = "", bool replay = false) {
        text_ = R"({"type":")" + type + R"(","turnID":"trn_1","data":)" + data + more + "}";
        return updates_.on_event(type, json::View(text_), replay);
    }
    AcpReport delta(std::string const& text, int attempt = 1, std::string const& kind = "text") {
        text_ = R"({"turnID":"trn_1","step":1,"attempt":)" + std::to_string(attempt) +
                R"(,"messageID":"draft_)" + std::to_string(attempt) + R"(","kind":")" + kind +
                R"(","text":)" + json::quote(text) + "}";
        return updates_.on_event("delta", json::View(text_), false);
    }
    AcpReport reply(std::string const& text) {
        return on_event("model_replied", R"({"messageID":"msg_2","parts":[{"type":"text","text":)" +
                                             json::quote(text) + "}]}");
    }
    static std::string words(AcpReport const& report) {
        std::string out;
        for (Json const& each : report.updates) {
            json::View const view(each);
            out += view["sessionUpdate"].string_or("") + "|" + view["messageId"].string_or("") +
                   "|" + view["content"]["text"].string_or("") + "\n";
        }
        return out;
    }

    AcpUpdates updates_;
    std::string text_;
};

TEST_F(Updates, StreamedText_IsNotRepeated) {
    EXPECT_EQ(words(delta("Hel")), "agent_message_chunk|draft_1|Hel\n");
    EXPECT_EQ(words(delta("hm", 1, "reasoning")), "agent_thought_chunk|draft_1|hm\n");
    EXPECT_TRUE(delta("{", 1, "input").updates.empty());
    EXPECT_EQ(words(reply("Hello")), "agent_message_chunk|draft_1|lo\n");
    EXPECT_EQ(words(reply("Hello")), "agent_message_chunk|msg_2|Hello\n") << "another reply";
}

TEST_F(Updates, OtherAttempt_ReplyIsReportedInFull) {
    EXPECT_EQ(words(delta("Good")), "agent_message_chunk|draft_1|Good\n");
    EXPECT_EQ(words(delta("He", 2)), "agent_message_chunk|draft_2|He\n");
    EXPECT_EQ(words(reply("Hello")), "agent_message_chunk|draft_2|llo\n");
    EXPECT_EQ(words(delta("Good", 3)), "agent_message_chunk|draft_3|Good\n");
    EXPECT_EQ(words(reply("Hello")), "agent_message_chunk|msg_2|Hello\n");
}

TEST_F(Updates, OwnMessage_IsReportedOnlyInAReplay) {
    auto const input = R"({"messageID":"msg_1","parts":[{"type":"text","text":"hi"}]})";
    updates_.own_message("msg_1");
    EXPECT_EQ(words(on_event("input_received", input)), "");
    EXPECT_EQ(words(on_event("input_received", input)), "user_message_chunk|msg_1|hi\n");
    EXPECT_EQ(words(on_event("input_received", input, "", true)), "user_message_chunk|msg_1|hi\n");
}

TEST_F(Updates, Approval_IsOpenUntilSettled) {
    auto const update = on_event("gate_asked", R"({"callID":"call_1","pendingID":"p1","gate":"g",)"
                                               R"("reason":"approval","message":"Sure?"})");
    EXPECT_EQ(update.asked, std::vector<std::string>{"p1"});
    EXPECT_EQ(updates_.approvals(), std::vector<std::string>{"p1"});
    auto const allowed = on_event(
        "submitted", R"({"callID":"call_1","pendingID":"p1","decision":{"approved":true}})");
    EXPECT_EQ(allowed.settled, std::vector<std::string>{"p1"});
    EXPECT_TRUE(updates_.approvals().empty());
    ASSERT_EQ(allowed.updates.size(), 1U);
    EXPECT_EQ(json::View(allowed.updates[0])["status"].string_or(""), "in_progress")
        << "now the tool runs";
    auto const done = on_event("tool_finished", R"({"callID":"call_1","output":{"a":1}})");
    EXPECT_EQ(json::View(done.updates.at(0))["status"].string_or(""), "completed");
    EXPECT_EQ(json::View(done.updates.at(0))["rawOutput"].raw(), R"({"a":1})");
}

TEST_F(Updates, DeniedCall_HasFailed) {
    (void)on_event("gate_asked", R"({"callID":"call_1","pendingID":"p1","reason":"approval"})");
    auto const report =
        on_event("submitted", R"({"callID":"call_1","pendingID":"p1",)"
                              R"("decision":{"approved":false,"reason":"Friday"}})");
    EXPECT_EQ(json::View(report.updates.at(0))["status"].string_or(""), "failed");
    EXPECT_NE(report.updates[0].text().find("Friday"), std::string_view::npos);
}

TEST_F(Updates, Session_RestsOnlyWhileQuestionsWait) {
    auto const question = [](int n) {
        auto const no = std::to_string(n);
        return R"({"callID":"call_)" + no + R"(","pendingID":"p)" + no +
               R"(","reason":"user_input","message":"Where?"})";
    };
    EXPECT_FALSE(on_event("call_paused", question(1)).rests);
    EXPECT_TRUE(on_event("call_paused", question(2), R"(,"activity":"waiting_async")").rests);
    EXPECT_EQ(updates_.questions().front(), "p1");
    auto const answer = [](int n) {
        auto const no = std::to_string(n);
        return R"({"callID":"call_)" + no + R"(","pendingID":"p)" + no +
               R"(","result":{"output":"x"}})";
    };
    EXPECT_TRUE(on_event("submitted", answer(1)).rests) << "the second one waits";
    EXPECT_FALSE(on_event("submitted", answer(2), R"(,"activity":"busy")").rests);
    EXPECT_FALSE(on_event("call_paused", R"({"callID":"call_3","pendingID":"p3"})",
                          R"(,"activity":"waiting_async")")
                     .rests)
        << "no person can answer a result";
}

TEST_F(Updates, FinishReasons_MapToStopReasons) {
    auto const end = [&](std::string const& data) {
        return on_event("turn_ended", data).ends.at(0);
    };
    EXPECT_EQ(end(R"({"finishReason":"stop"})").stop_reason, "end_turn");
    EXPECT_EQ(end(R"({"finishReason":"length"})").stop_reason, "max_tokens");
    EXPECT_EQ(end(R"({"finishReason":"step_limit"})").stop_reason, "max_turn_requests");
    EXPECT_EQ(end(R"({"finishReason":"refusal"})").stop_reason, "refusal");
    EXPECT_EQ(end(R"({"finishReason":"cancelled"})").stop_reason, "cancelled");
    auto const failed =
        end(R"({"finishReason":"error","error":{"code":"model_failed","message":"no key"}})");
    EXPECT_EQ(failed.stop_reason, "");
    EXPECT_EQ(failed.error, "no key");
    EXPECT_EQ(failed.turn, "trn_1");
}

TEST_F(Updates, Fork_ReportsItsPast) {
    auto const report = on_event(
        "forked", R"({"messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"q"}]},)"
                  R"({"id":"m2","role":"assistant","parts":[{"type":"text","text":"a"},{"type":)"
                  R"("tool","id":"prt_1","callID":"call_1","tool":"t","state":{"status":)"
                  R"("completed","input":{},"output":"o"}}]}]})");
    EXPECT_EQ(words(report),
              "user_message_chunk|m1|q\nagent_message_chunk|m2|a\ntool_call||\n"
              "tool_call_update||\n");
}

TEST_F(Updates, DeletedSession_IsGone) {
    text_ = R"({"reason":"deleted"})";
    EXPECT_TRUE(updates_.on_event("bye", json::View(text_), false).gone);
    text_ = R"({"reason":"draining"})";
    EXPECT_FALSE(updates_.on_event("bye", json::View(text_), false).gone);
}

TEST_F(Updates, ExternalAgent_MessagesToolsAndPlanAreReportedOnce) {
    auto const says = [&](std::string const& text) {
        return on_event("agent_update", R"({"kind":"message","messageID":"msg_3","body":)"
                                        R"([{"type":"text","text":")" +
                                            text + "\"}]}");
    };
    EXPECT_EQ(words(delta("Hello you")), "agent_message_chunk|draft_1|Hello you\n");
    EXPECT_EQ(words(says("Hello ")), "");
    EXPECT_EQ(words(says("you there")), "agent_message_chunk|msg_3| there\n");
    EXPECT_EQ(words(says("all of it")), "agent_message_chunk|msg_3|all of it\n");
    auto const plan =
        on_event("agent_update", R"({"kind":"plan","body":{"entries":[{"content":"a"}]}})");
    EXPECT_EQ(plan.updates.at(0).text(), R"({"sessionUpdate":"plan","entries":[{"content":"a"}]})");
    auto const begun =
        on_event("agent_update", R"({"kind":"tool","toolCallID":"t1","messageID":"msg_3",)"
                                 R"("status":"pending","title":"ls","body":{}})");
    EXPECT_EQ(words(begun), "tool_call||\n");
    auto const ended =
        on_event("agent_update", R"({"kind":"tool","toolCallID":"t1","status":"completed",)"
                                 R"("body":{"output":"a.txt"}})");
    EXPECT_EQ(json::View(ended.updates.at(0))["status"].string_or(""), "completed");
}

TEST_F(Updates, Permission_IsAskedUntilDecided) {
    auto const update =
        on_event("agent_asked", R"({"callID":"call_1","pendingID":"pnd_1","reason":)"
                                R"("approval","call":{"tool":"acp:execute","input":{}}})");
    EXPECT_EQ(update.asked, std::vector<std::string>{"pnd_1"});
    EXPECT_EQ(json::View(update.updates.at(0))["sessionUpdate"].string_or(""), "tool_call");
    auto const decided =
        on_event("submitted", R"({"callID":"call_1","pendingID":"pnd_1","decision":)"
                              R"({"approved":true}})");
    EXPECT_EQ(decided.settled, std::vector<std::string>{"pnd_1"});
    EXPECT_EQ(json::View(decided.updates.at(0))["status"].string_or(""), "in_progress");
}

TEST_F(Updates, Permission_KnownToolCall_IsShownOnceUnderItsId) {
    (void)on_event("agent_update",
                   R"({"kind":"tool","toolCallID":"t1","messageID":"msg_3",)"
                   R"("status":"pending","title":"bash","body":{"kind":"execute"}})");
    auto const update = on_event(
        "agent_asked", R"({"callID":"call_1","pendingID":"pnd_1","reason":"approval",)"
                       R"("message":"ls -l","call":{"tool":"acp:execute","modelID":"t1"}})");
    ASSERT_EQ(update.updates.size(), 1U);
    EXPECT_EQ(json::View(update.updates[0])["sessionUpdate"].string_or(""), "tool_call_update");
    EXPECT_EQ(json::View(update.updates[0])["toolCallId"].string_or(""), "t1");
    auto const denied =
        on_event("submitted", R"({"callID":"call_1","pendingID":"pnd_1","decision":)"
                              R"({"approved":false}})");
    EXPECT_EQ(json::View(denied.updates.at(0))["toolCallId"].string_or(""), "t1");
    EXPECT_EQ(json::View(denied.updates.at(0))["status"].string_or(""), "failed");
}

TEST_F(Updates, Permission_UnknownToolCall_IsShownWithTitleAndKind) {
    auto const update = on_event(
        "agent_asked", R"({"callID":"call_1","pendingID":"pnd_1","reason":"approval",)"
                       R"("message":"ls -l","call":{"tool":"acp:execute","modelID":"t1"}})");
    json::View const shown(update.updates.at(0));
    EXPECT_EQ(shown["toolCallId"].string_or(""), "t1");
    EXPECT_EQ(shown["title"].string_or(""), "ls -l");
    EXPECT_EQ(shown["kind"].string_or(""), "execute");
    auto const ended =
        on_event("agent_update", R"({"kind":"tool","toolCallID":"t1","messageID":"msg_3","status":)"
                                 R"("completed","body":{"output":{"output":"a.txt","n":1}}})");
    ASSERT_EQ(ended.updates.size(), 1U) << "the tool call is shown already";
    EXPECT_NE(ended.updates[0].text().find(R"("text":"a.txt")"), std::string::npos);
}

TEST_F(Updates, Budget_IsAskedAndSettled) {
    auto const update =
        on_event("budget_reached", R"({"callID":"call_2","pendingID":"pnd_2","reason":"budget",)"
                                   R"("message":"Raise it?","call":{"tool":"budget","input":{}}})");
    EXPECT_EQ(update.asked, std::vector<std::string>{"pnd_2"});
    EXPECT_EQ(json::View(update.updates.at(0))["title"].string_or(""), "Raise it?");
    auto const decided =
        on_event("submitted", R"({"callID":"call_2","pendingID":"pnd_2","decision":)"
                              R"({"approved":true}})");
    EXPECT_EQ(decided.settled, std::vector<std::string>{"pnd_2"});
    EXPECT_EQ(json::View(decided.updates.at(0))["status"].string_or(""), "completed");
}

TEST_F(Updates, FirstPrompt_ReportsTheStart) {
    EXPECT_EQ(words(on_event("agent_prompted", R"({"step":1})")),
              "agent_thought_chunk||Starting the agent's program.\n\n");
    (void)on_event("attached", R"({"acpSessionID":"s"})");
    EXPECT_EQ(words(on_event("agent_prompted", R"({"step":1})")), "");
    (void)on_event("detached", R"({"error":{}})");
    EXPECT_NE(words(on_event("agent_prompted", R"({"step":1})")), "");
}

}  // namespace
}  // namespace dormouse::acp_agent
