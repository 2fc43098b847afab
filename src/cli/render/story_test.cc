#include "cli/render/story.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

std::string event(int seq, std::string_view type, std::string_view data,
                  std::string_view activity = "null") {
    return R"({"seq":)" + std::to_string(seq) + R"(,"type":")" + std::string(type) +
           R"(","turnID":"trn_1","at":0,"activity":)" + std::string(activity) + R"(,"data":)" +
           std::string(data) + "}";
}

TurnStory::StoryLine on_event(TurnStory& story, std::string_view type, std::string_view data,
                              std::string_view activity = "null") {
    auto const text = event(1, type, data, activity);
    return story.on_event(type, json::View(text));
}

constexpr std::string_view replied_with_call =
    R"({"step":1,"parts":[],"calls":[{"callID":"call_1","tool":"deploy","input":{"target":"A"}}]})";

TEST(TurnStory, Call_ShowsItsPauseAndItsResult) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(on_event(story, "model_replied", replied_with_call).text,
              "→ deploy {\"target\":\"A\"}\n");
    auto const paused =
        on_event(story, "call_paused", R"({"callID":"call_1","pendingID":"pnd_1"})");
    EXPECT_TRUE(paused.may_sleep);
    EXPECT_EQ(
        on_event(story, "submitted", R"({"callID":"call_1","result":{"output":{"status":"live"}}})")
            .text,
        "← deploy {\"target\":\"A\"}: {\"status\":\"live\"}\n");
    EXPECT_EQ(
        on_event(story, "model_replied", R"({"parts":[{"type":"text","text":"Done."}],"calls":[]})")
            .text,
        "Done.\n");
    EXPECT_EQ(on_event(story, "turn_ended", R"({"finishReason":"stop"})").finish, "stop");
}

TEST(TurnStory, WaitingActivity_MaySleep) {
    TurnStory story("trn_1", {});
    EXPECT_TRUE(on_event(story, "note", "{}", R"({"type":"waiting_async"})").may_sleep);
    EXPECT_TRUE(on_event(story, "note", "{}", R"("waiting_async")").may_sleep);
    EXPECT_FALSE(on_event(story, "note", "{}", R"({"type":"busy"})").may_sleep);
}

TEST(TurnStory, StreamedText_IsCompletedByTheDurableReply) {
    TurnStory story("trn_1", {});
    auto const delta = json::View(R"({"turnID":"trn_1","kind":"text","text":"Hel"})");
    EXPECT_EQ(story.on_event("delta", delta).text, "Hel");
    EXPECT_EQ(
        on_event(story, "model_replied", R"({"parts":[{"type":"text","text":"Hello"}],"calls":[]})")
            .text,
        "lo\n");
}

TEST(TurnStory, StreamedText_AttemptFailed_IsReplaced) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(
        story.on_event("delta", json::View(R"({"turnID":"trn_1","kind":"text","text":"Hel"})"))
            .text,
        "Hel");
    EXPECT_EQ(on_event(story, "model_replied",
                       R"({"parts":[{"type":"text","text":"Good day"}],"calls":[]})")
                  .text,
              "\nGood day\n");
}

std::string delta(std::string_view part, int offset, std::string_view text, int attempt = 1) {
    return R"({"turnID":"trn_1","step":1,"attempt":)" + std::to_string(attempt) + R"(,"partID":")" +
           std::string(part) + R"(","kind":"text","offset":)" + std::to_string(offset) +
           R"(,"text":")" + std::string(text) + R"("})";
}

TEST(TurnStory, Draft_SentAgainAfterReconnect_ShowsOnlyWhatIsNew) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(story.on_event("delta", json::View(delta("p0", 0, "Hel"))).text, "Hel");
    EXPECT_EQ(story.on_event("delta", json::View(delta("p0", 0, "Hello"))).text, "lo");
    EXPECT_EQ(story.on_event("delta", json::View(delta("p0", 0, "Hello"))).text, "");
    EXPECT_EQ(story.on_event("delta", json::View(delta("p0", 9, "gap"))).text, "");
    EXPECT_EQ(on_event(story, "model_replied",
                       R"({"parts":[{"type":"text","text":"Hello!"}],"calls":[]})")
                  .text,
              "!\n");
}

TEST(TurnStory, Draft_OfAnotherAttempt_BeginsALine) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(story.on_event("delta", json::View(delta("p0", 0, "Hel"))).text, "Hel");
    EXPECT_EQ(story.on_event("delta", json::View(delta("q0", 0, "He", 2))).text, "\nHe");
    EXPECT_EQ(
        on_event(story, "model_replied", R"({"parts":[{"type":"text","text":"Hello"}],"calls":[]})")
            .text,
        "llo\n");
}

TEST(TurnStory, OpenLineOfStreamedText_IsEndedOnce) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(story.end_line(), "");
    (void)story.on_event("delta", json::View(R"({"turnID":"trn_1","kind":"text","text":"Hel"})"));
    EXPECT_EQ(story.end_line(), "\n");
    EXPECT_EQ(story.end_line(), "");
}

TEST(TurnStory, ExternalAgent_EachMessage_PrintedOnceOnItsOwnLine) {
    constexpr auto first =
        R"({"kind":"message","begins":true,"body":[{"type":"text","text":"abc"}]})";
    constexpr auto more = R"({"kind":"message","body":[{"type":"text","text":"def"}]})";
    TurnStory story("trn_1", {});
    (void)story.on_event("delta", json::View(R"({"turnID":"trn_1","kind":"text","text":"abcd"})"));
    EXPECT_EQ(on_event(story, "agent_update", first).text, "");
    EXPECT_EQ(on_event(story, "agent_update", more).text, "ef");
    EXPECT_EQ(on_event(story, "agent_update", R"({"kind":"tool","toolCallID":"t"})").text, "\n");
    EXPECT_EQ(on_event(story, "agent_update", first).text, "abc");
    EXPECT_EQ(on_event(story, "agent_update", first).text, "\nabc");
    EXPECT_EQ(on_event(story, "turn_ended", R"({"finishReason":"stop"})").text, "\n");
}

TEST(TurnStory, ExternalAgentLost_PrintsTheReason) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(on_event(story, "detached", R"({"error":{"message":"it died"},"retryAt":1})").text,
              "the agent's program is gone: it died; it is started again\n");
    EXPECT_TRUE(on_event(story, "status_changed", R"({"from":"active","to":"error"})").may_sleep);
}

TEST(TurnStory, OtherTurns_AreNotShown) {
    TurnStory story("trn_9", {});
    EXPECT_EQ(on_event(story, "model_replied", replied_with_call).text, "");
    EXPECT_FALSE(on_event(story, "turn_ended", R"({"finishReason":"stop"})").finish);
}

TEST(TurnStory, Failure_PrintsItsReason) {
    TurnStory story("trn_1", {});
    auto const line =
        on_event(story, "turn_ended",
                 R"({"finishReason":"error","error":{"code":"x","message":"no model"}})");
    EXPECT_EQ(line.text, "the turn failed: no model\n");
    EXPECT_EQ(line.finish, "error");
}

TEST(TurnStory, DeniedAndExpiredCalls_AreShown) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(on_event(story, "submitted", R"({"callID":"c","decision":{"approved":false}})").text,
              "← c denied\n");
    EXPECT_EQ(on_event(story, "expired", R"({"callID":"c","receipt":{}})").text, "← c expired\n");
    EXPECT_EQ(on_event(story, "tool_finished", R"({"callID":"c","error":"no"})").text,
              "← c failed: no\n");
}

TEST(TurnStory, Timer_AtItsTime_IsDone) {
    TurnStory story("trn_1", {});
    EXPECT_EQ(on_event(story, "expired", R"({"callID":"c","receipt":{"status":"completed"}})").text,
              "← c: done\n");
}

TEST(EventLine, SettledCall_ShowsWho) {
    auto const text = event(
        3, "submitted", R"({"pendingID":"pnd_1","receipt":{"kind":"result","by":"token:ann"}})");
    EXPECT_NE(event_line(json::View(text), 0, {}).find("result by token:ann, pnd_1"),
              std::string::npos);
}

TEST(EventLine, AnyContent_IsOneLine) {
    auto const text =
        event(12, "input_received", R"({"parts":[{"type":"text","text":"a\nb\u001b[1m"}]})");
    auto const line = event_line(json::View(text), 0, {});
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_TRUE(line.starts_with("   12  "));
}

TEST(EventLine, Line_IsAsWideAsTheTerminal) {
    auto const text = event(12, "something_new", "{\"a\":\"" + std::string(500, 'x') + "\"}");
    EXPECT_EQ(width(event_line(json::View(text), 80, {})), 81U);
}

Consumption count(std::vector<std::string> const& events) {
    ConsumptionCount counting("pnd_1");
    for (auto const& text : events) counting.add(json::View(text));
    return counting.result();
}

TEST(Consumption, StepThatSawTheSettlement_IsCounted) {
    auto const seen =
        count({event(1, "model_requested", R"({"viewSeq":1})"), event(2, "model_replied", "{}"),
               event(3, "tool_started", R"({"pendingID":"pnd_1"})"),
               event(4, "submitted", R"({"pendingID":"pnd_1"})"),
               event(5, "model_requested", R"({"viewSeq":4})"),
               event(6, "model_replied", R"({"parts":[{"type":"text","text":"ok"}]})"),
               event(7, "turn_ended", "{}")});
    EXPECT_EQ(seen.tool_starts, 1);
    EXPECT_EQ(seen.settlements, 1);
    EXPECT_EQ(seen.steps_after, 1);
    EXPECT_EQ(seen.turns_ended, 1);
    EXPECT_EQ(seen.answer, "ok");
}

TEST(Consumption, RepeatedRequest_CountsOneStep_SecondStepIsNoticed) {
    std::vector<std::string> events{event(4, "submitted", R"({"pendingID":"pnd_1"})"),
                                    event(5, "model_requested", R"({"viewSeq":4})"),
                                    event(6, "model_requested", R"({"viewSeq":4})"),
                                    event(7, "model_replied", "{}")};
    EXPECT_EQ(count(events).steps_after, 1);
    events.push_back(event(8, "model_replied", "{}"));
    EXPECT_EQ(count(events).steps_after, 2);
}

}  // namespace
}  // namespace dormouse::cli
