#include "acp/driver/update_coalescer.h"

#include "acp/v1.h"

#include <gtest/gtest.h>

namespace dormouse::acp {
namespace {

using namespace session;

class UpdateCoalescerTest : public ::testing::Test {
protected:
    // Returns what is kept, as words: "message+[…]" begins a message, "message[…]" continues it.
    std::string add(std::string const& update) {
        Json const text = *json::check(update);
        auto added = coalescer.add(update_in(json::View(text)));
        delta = added.delta ? added.delta->text : "";
        return words(added.outputs);
    }
    static std::string words(std::vector<AgentOutput> const& outputs) {
        std::string out;
        for (AgentOutput const& what : outputs) {
            out += out.empty() ? "" : " ";
            if (what.kind == AgentOutputKind::tool)
                out += what.tool_call + ":" + std::string(session::text(what.status));
            if (what.kind == AgentOutputKind::message) out += what.begins ? "message+" : "message";
            if (what.kind == AgentOutputKind::plan) out += "plan";
            out += std::string(what.body.text());
        }
        return out;
    }
    static std::string chunk(std::string const& text, std::string const& id = "",
                             std::string const& kind = "agent_message_chunk") {
        std::string const of = id.empty() ? "" : R"(,"messageId":")" + id + "\"";
        return R"({"sessionUpdate":")" + kind + R"(","content":{"type":"text","text":")" + text +
               "\"}" + of + "}";
    }

    UpdateCoalescer coalescer;
    std::string delta;
};

TEST_F(UpdateCoalescerTest, TextPieces_BecomeOneMessage) {
    EXPECT_EQ(add(chunk("He")), "");
    EXPECT_EQ(delta, "He");
    EXPECT_EQ(add(chunk("llo")), "");
    EXPECT_EQ(words(coalescer.flush()), R"(message+[{"type":"text","text":"Hello"}])");
    EXPECT_EQ(words(coalescer.flush()), "");
    EXPECT_EQ(add(chunk(" again")), "");
    EXPECT_EQ(words(coalescer.flush()), R"(message[{"type":"text","text":" again"}])");
}

TEST_F(UpdateCoalescerTest, OtherMessageId_BeginsMessage) {
    (void)add(chunk("one", "m1"));
    EXPECT_EQ(add(chunk("two", "m2")), R"(message+[{"type":"text","text":"one"}])");
    EXPECT_EQ(words(coalescer.flush()), R"(message+[{"type":"text","text":"two"}])");
}

TEST_F(UpdateCoalescerTest, Reasoning_IsASeparatePart) {
    (void)add(chunk("hm", "", "agent_thought_chunk"));
    (void)add(chunk("yes"));
    EXPECT_EQ(words(coalescer.flush()),
              R"(message+[{"type":"reasoning","text":"hm"},{"type":"text","text":"yes"}])");
}

TEST_F(UpdateCoalescerTest, ToolCall_IsKeptWhenItChangesAndEnds) {
    (void)add(chunk("I look"));
    std::string const call = R"("toolCallId":"t1","kind":"read","title":"ls","rawInput":{"p":1})";
    EXPECT_EQ(
        add(R"({"sessionUpdate":"tool_call","status":"pending",)" + call + "}"),
        R"(message+[{"type":"text","text":"I look"}] t1:pending{"kind":"read","input":{"p":1}})");
    EXPECT_EQ(
        add(R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"in_progress"})"),
        R"(t1:in_progress{"kind":"read","input":{"p":1}})");
    std::string const some = R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","content":)";
    EXPECT_EQ(add(some + R"([{"type":"content","content":{"type":"text","text":"a"}}]})"), "");
    EXPECT_EQ(add(some + R"([{"type":"content","content":{"type":"text","text":"ab"}}],)"
                         R"("status":"completed"})"),
              R"(t1:completed{"kind":"read","input":{"p":1},"output":"ab"})");
    (void)add(chunk("done"));
    EXPECT_EQ(words(coalescer.flush()), R"(message+[{"type":"text","text":"done"}])");
}

TEST_F(UpdateCoalescerTest, ToolCall_NamesItsTool_NameIsKept) {
    std::string const named = R"({"sessionUpdate":"tool_call","kind":"execute",)";
    EXPECT_EQ(add(named + R"("toolCallId":"o","title":"bash","status":"pending","rawInput":{}})"),
              R"(o:pending{"kind":"execute","name":"bash","input":{}})");
    EXPECT_EQ(add(R"({"sessionUpdate":"tool_call_update","toolCallId":"o","title":"List files",)"
                  R"("status":"in_progress","rawInput":{"command":"ls"}})"),
              R"(o:in_progress{"kind":"execute","name":"bash","input":{"command":"ls"}})");
    EXPECT_EQ(add(named + R"("toolCallId":"c","title":"ls","status":"pending","rawInput":{},)"
                          R"("_meta":{"claudeCode":{"toolName":"Bash"}}})"),
              R"(c:pending{"kind":"execute","name":"Bash","input":{}})");
}

TEST_F(UpdateCoalescerTest, ToolCall_TitleIsTheCommand_IsNoName) {
    std::string const titled = R"({"sessionUpdate":"tool_call","title":"ls",)";
    EXPECT_EQ(add(titled + R"("toolCallId":"a","status":"in_progress","content":[]})"),
              "a:in_progress{}");
    EXPECT_EQ(add(titled + R"("toolCallId":"b","status":"pending","rawInput":{"a":1}})"),
              R"(b:pending{"input":{"a":1}})");
    EXPECT_EQ(add(titled + R"("toolCallId":"c","status":"pending","name":"two words"})"),
              "c:pending{}");
}

TEST_F(UpdateCoalescerTest, ToolCall_FirstReportedAtItsEnd_IsKept) {
    EXPECT_EQ(add(R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed",)"
                  R"("rawOutput":{"e":1}})"),
              R"(t:failed{"output":{"e":1}})");
}

TEST_F(UpdateCoalescerTest, UnknownUpdates_AreIgnored) {
    EXPECT_EQ(add(R"({"sessionUpdate":"from_the_future","content":{"text":"x"}})"), "");
    EXPECT_EQ(add(R"({"sessionUpdate":"agent_message_chunk","content":7})"), "");
    EXPECT_EQ(add(R"({"sessionUpdate":"tool_call"})"), "");
    EXPECT_EQ(add("{}"), "");
    EXPECT_FALSE(coalescer.has_more());
}

TEST_F(UpdateCoalescerTest, PlansAndTitles_AreReported) {
    EXPECT_EQ(add(R"({"sessionUpdate":"plan","entries":[{"content":"a"}]})"),
              R"(plan{"entries":[{"content":"a"}]})");
    Json const text = *json::check(R"({"sessionUpdate":"session_info_update","title":"T"})");
    EXPECT_EQ(coalescer.add(update_in(json::View(text))).title, "T");
}

TEST_F(UpdateCoalescerTest, LongText_IsKeptInPiecesAndCutAtLimit) {
    std::string const piece(std::size_t{32} << 10, 'x');
    std::size_t kept = 0;
    bool cut = false;
    for (int i = 0; i < 40; ++i) {
        std::string const received = add(chunk(piece));
        kept += received.empty() ? 0 : 1;
        cut = cut || received.find("[cut: ") != std::string::npos;
    }
    EXPECT_GE(kept, 15U);
    EXPECT_TRUE(cut);
    EXPECT_EQ(delta, "");
}

TEST_F(UpdateCoalescerTest, LargeOutput_IsCut) {
    std::string const large(std::size_t{300} << 10, 'y');
    std::string const begin =
        R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed",)";
    std::string const received = add(begin + R"("rawOutput":")" + large + "\"}");
    EXPECT_LT(received.size(), UpdateCoalescer::value_bytes_max + 200);
    EXPECT_NE(received.find("[cut: it was longer]"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::acp
