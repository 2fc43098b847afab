#include "http/objects/objects.h"

#include "session/testing/given.h"
#include "wire/journal/record.h"

#include <gtest/gtest.h>

// Tests that every member of an object is present, null when it has no value.
namespace dormouse::http {
namespace {

using namespace session;
using namespace session::testing;
using Names = std::vector<std::string>;

Names names(dormouse::Json const& object) {
    Names out;
    dormouse::json::View(object).members(
        [&](std::string_view name, auto) { out.emplace_back(name); });
    return out;
}

class Objects : public ::testing::Test, protected Given {
protected:
    wire::History history() const {
        wire::History history(id);
        for (Event const& event : archive.log) history.add(*wire::record(id, event));
        return history;
    }
    // Checks that an object is JSON.
    static dormouse::Json checked(std::string const& text) {
        auto const value = dormouse::json::check(text);
        EXPECT_TRUE(value) << text;
        return value.value_or(dormouse::Json());
    }
    dormouse::Json session_json() const { return checked(session_object(state)); }
    dormouse::Json turn_json(TurnNo no = 1) const {
        return checked(turn_object(state, history(), no));
    }
    dormouse::Json message_json(Seq seq) const {
        return checked(message_object(state, history(), seq));
    }
    dormouse::Json last_message() const {
        return message_json(history().messages().rbegin()->first);
    }
    dormouse::Json pending_json(PendingId const& pending) const {
        wire::History const h = history();
        return checked(pending_object(state, h, *h.pause(pending), now));
    }
    // Returns the state of the tool part of call `index` of the newest reply.
    dormouse::Json part_state(std::size_t index = 0) const {
        dormouse::Json const message = last_message();
        std::vector<dormouse::Json> parts;
        dormouse::json::View(message)["parts"].elements(
            [&](auto part) { parts.push_back(part.copy()); });
        return dormouse::json::View(parts.at(1 + index))["state"].copy();  // the text comes first
    }
    static std::string text(dormouse::Json const& object, std::string_view pointer) {
        auto const value = dormouse::json::View(object).at_pointer(pointer);
        return value.exists() ? std::string(value.raw()) : "absent";
    }
};

TEST_F(Objects, Session_HasAllItsMembersFromTheStart) {
    (void)create();
    EXPECT_EQ(names(session_json()),
              (Names{"id", "projectID", "agentID", "alias", "title", "status", "activity",
                     "parentID", "forkedFrom", "acpSessionID", "cwd", "labels", "seq",
                     "messageCount", "usage", "error", "lastTurn", "time"}));
    for (std::string const field : {"/alias", "/title", "/parentID", "/forkedFrom", "/acpSessionID",
                                    "/cwd", "/error", "/lastTurn", "/time/ended"}) {
        EXPECT_EQ(text(session_json(), field), "null") << field;
    }
    EXPECT_EQ(text(session_json(), "/labels"), "{}");
    EXPECT_EQ(text(session_json(), "/activity"), R"({"type":"idle"})");
    EXPECT_EQ(text(session_json(), "/usage"),
              R"({"inputTokens":0,"outputTokens":0,"cachedTokens":0,"reasoningTokens":0,)"
              R"("cacheWrittenTokens":0,"cost":null,"steps":0})");
    (void)move(Move::To::end);
    EXPECT_EQ(text(session_json(), "/status"), "\"completed\"");
    EXPECT_EQ(text(session_json(), "/time/ended"), std::to_string(to_ms(now)));
}

TEST_F(Objects, Activity_SaysWhatContinues) {
    (void)create();
    (void)prompt("please");
    std::string const turn = "\"" + numbered_id("trn_", id, 1) + "\"";
    EXPECT_EQ(text(session_json(), "/activity"),
              R"({"type":"busy","turnID":)" + turn + R"(,"step":1})");
    (void)model_fails(true);
    EXPECT_EQ(names(checked(text(session_json(), "/activity"))),
              (Names{"type", "turnID", "attempt", "message", "next"}));
    (void)later(Duration(60'000));
    (void)reply({job("a"), job("b")});
    (void)pauses(1);
    (void)pauses(2);
    dormouse::Json const waiting = checked(text(session_json(), "/activity"));
    EXPECT_EQ(names(waiting), (Names{"type", "turnID", "pendingIDs", "pendingID", "tool", "since",
                                     "timeout", "missingGates"}));
    EXPECT_EQ(text(waiting, "/pendingID"), text(waiting, "/pendingIDs/0"));
    EXPECT_EQ(text(waiting, "/tool"), "\"a\"");
}

TEST_F(Objects, Turn_IsQueuedThenRunsThenWaitsThenEnds) {
    waits_for({job()});
    (void)prompt("later", PromptMode::queue);
    EXPECT_EQ(names(turn_json()),
              (Names{"id", "sessionID", "status", "finishReason", "cancelReason", "cause", "step",
                     "stepLimit", "inputMessageID", "messageIDs", "pendingIDs", "usage", "error",
                     "time"}));
    EXPECT_EQ(text(turn_json(), "/status"), "\"waiting\"");
    EXPECT_EQ(text(turn_json(), "/finishReason"), "\"paused\"");
    EXPECT_EQ(text(turn_json(), "/cause"),
              R"({"type":"prompt","by":{"type":"token","name":"ann"},"ref":null})");
    EXPECT_EQ(text(turn_json(2), "/status"), "\"queued\"");
    EXPECT_EQ(text(turn_json(2), "/finishReason"), "null");
    EXPECT_EQ(text(turn_json(2), "/time/started"), "null");
    (void)submit(pending(1), result("ok"));
    EXPECT_EQ(text(turn_json(), "/status"), "\"running\"");
    EXPECT_EQ(text(turn_json(), "/finishReason"), "null");
    (void)reply();
    EXPECT_EQ(text(turn_json(), "/status"), "\"ended\"");
    EXPECT_EQ(text(turn_json(), "/finishReason"), "\"stop\"");
    EXPECT_EQ(text(turn_json(), "/error"), "null");
    (void)model_fails(false);
    EXPECT_EQ(text(turn_json(2), "/finishReason"), "\"error\"");
    EXPECT_EQ(text(turn_json(2), "/error/code"), "\"model_failed\"");
}

TEST_F(Objects, Message_HasItsSource) {
    (void)create();
    (void)prompt("please");
    dormouse::Json const input = last_message();
    Names const fields{"id",    "sessionID", "turnID", "role", "source",
                       "parts", "error",     "usage",  "time"};
    EXPECT_EQ(names(input), fields);
    EXPECT_EQ(text(input, "/source"), R"({"type":"prompt","ref":null})");
    EXPECT_EQ(text(input, "/usage"), "null");
    EXPECT_EQ(names(checked(text(input, "/parts/0"))),
              (Names{"id", "messageID", "sessionID", "type", "text", "synthetic"}));
    (void)reply();
    EXPECT_EQ(names(last_message()), fields);
    EXPECT_EQ(text(last_message(), "/source"), R"({"type":"model","ref":"coder"})");
    EXPECT_EQ(text(last_message(), "/role"), "\"assistant\"");
    EXPECT_EQ(text(last_message(), "/usage/outputTokens"), "5");
}

TEST_F(Objects, ToolPart_HasTheMembersOfItsState) {
    terms.tool_concurrency = 1;
    asks_for({job(), job(), plain()});
    EXPECT_EQ(names(part_state(0)), (Names{"status", "input", "title", "metadata", "time"}));
    EXPECT_EQ(text(part_state(0), "/status"), "\"running\"");
    EXPECT_EQ(names(part_state(1)), (Names{"status", "input", "raw"}));
    (void)pauses(1);
    EXPECT_EQ(names(part_state(0)), (Names{"status", "input", "pendingID", "output", "time"}));
    EXPECT_EQ(text(part_state(0), "/output"), R"({"status":"pending"})");
    (void)submit(pending(1), result("ok"));
    EXPECT_EQ(names(part_state(0)),
              (Names{"status", "input", "output", "title", "metadata", "artifactID", "time"}));
    EXPECT_EQ(text(part_state(0), "/output"), "\"ok\"");
    (void)tool_fails(2, false);
    EXPECT_EQ(names(part_state(1)),
              (Names{"status", "input", "error", "reason", "metadata", "time"}));
    EXPECT_EQ(text(part_state(1), "/reason"), "\"failed\"");
}

TEST_F(Objects, PendingCall_HasAllItsMembersBeforeAndAfterSettling) {
    waits_for({job()});
    PendingId const call = pending(1);
    Names const fields{"id",          "projectID",
                       "sessionID",   "turnID",
                       "messageID",   "callID",
                       "generation",  "tool",
                       "input",       "modelInput",
                       "inputDigest", "status",
                       "reason",      "continuation",
                       "message",     "form",
                       "schema",      "files",
                       "placeholder", "webhookURL",
                       "externalRef", "estimatedDuration",
                       "timeout",     "answer",
                       "progress",    "progressCount",
                       "inDoubt",     "time",
                       "result",      "error",
                       "decision",    "cancelReason",
                       "receipt"};
    EXPECT_EQ(names(pending_json(call)), fields);
    EXPECT_EQ(text(pending_json(call), "/status"), "\"waiting\"");
    EXPECT_EQ(text(pending_json(call), "/answer"),
              R"({"from":["role:answer"],"escalateTo":[],"need":1,"votes":[]})");
    for (std::string const field :
         {"/result", "/error", "/decision", "/receipt", "/message", "/time/completed"}) {
        EXPECT_EQ(text(pending_json(call), field), "null") << field;
    }
    (void)when(Claim{call, Duration(30'000)});
    EXPECT_EQ(text(pending_json(call), "/status"), "\"processing\"");
    now += Duration(30'001);
    EXPECT_EQ(text(pending_json(call), "/status"), "\"waiting\"");
    (void)submit(call, result("ok"));
    EXPECT_EQ(names(pending_json(call)), fields);
    EXPECT_EQ(text(pending_json(call), "/result"),
              R"({"title":null,"output":"ok","metadata":null})");
    EXPECT_EQ(text(pending_json(call), "/status"), "\"completed\"");
    EXPECT_EQ(text(pending_json(call), "/receipt/consumed"), "null");
    (void)reply();
    EXPECT_EQ(names(checked(text(pending_json(call), "/receipt"))),
              (Names{"id", "pendingID", "sessionID", "kind", "status", "digest", "at", "by", "via",
                     "deliveryID", "seq", "consumed"}));
    EXPECT_EQ(text(pending_json(call), "/receipt/consumed/step"), "2");
    EXPECT_EQ(text(pending_json(call), "/receipt/deliveryID"), "null");
}

TEST_F(Objects, DecisionErrorAndExpiry_AreInTheirMembers) {
    asks_for({pausing(PauseReason::approval), job(), job()});
    (void)pauses(1, pause_for(PauseReason::approval));
    (void)pauses(2);
    (void)pauses(3);
    std::vector<PendingId> const calls{pending(1), pending(2), pending(3)};
    (void)submit(calls[0], decision(false, "not now"));
    (void)submit(calls[1], error("broke"));
    (void)later(Duration(25 * 3'600'000LL));
    EXPECT_EQ(text(pending_json(calls[0]), "/decision"),
              R"({"approved":false,"reason":"not now","arguments":null,"content":null})");
    EXPECT_EQ(text(pending_json(calls[0]), "/status"), "\"completed\"");
    EXPECT_EQ(text(pending_json(calls[1]), "/error"), "\"broke\"");
    EXPECT_EQ(text(pending_json(calls[1]), "/status"), "\"failed\"");
    EXPECT_EQ(text(pending_json(calls[2]), "/error"), "\"Tool execution timed out\"");
    EXPECT_EQ(text(pending_json(calls[2]), "/receipt/kind"), "\"expiry\"");
}

TEST_F(Objects, ExpiredApproval_HasNoErrorOfATool) {
    asks_for({pausing(PauseReason::approval)});
    PauseTerms terms = pause_for(PauseReason::approval);
    terms.timeout = Duration(1'000);
    terms.on_deadline = OnDeadline::deny;
    (void)pauses(1, terms);
    PendingId const call = pending(1);
    (void)later(Duration(2'000));
    EXPECT_EQ(text(pending_json(call), "/status"), "\"expired\"");
    EXPECT_EQ(text(pending_json(call), "/error"), "\"denied: nobody answered in time\"");
}

}  // namespace
}  // namespace dormouse::http
