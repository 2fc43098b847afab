#include "transcript/transcript.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::transcript {
namespace {

// One line a message: its role, then its parts.
std::string text_of(Result<Transcript> const& read) {
    if (!read) return "error: " + read.error().detail;
    std::string out;
    for (opencode::Message const& message : read->session.messages) {
        out += json::View(message.data)["role"].string_or("?").substr(0, 1) + ":";
        for (opencode::Part const& part : message.parts) {
            json::View const data(part.data);
            auto const state = data["state"];
            out += " " + data["type"].string_or("?") + "(" + data["text"].string_or("");
            if (state.exists())
                out += data["tool"].string_or("") + std::string(state["input"].raw()) + "=" +
                       state["status"].string_or("") + " " +
                       state["output"].string_or(state["error"].string_or("-"));
            out += ")";
        }
        out += "\n";
    }
    return out;
}

// An entry of Claude Code; `more`: further members, with their comma.
std::string entry(std::string const& role, std::string const& uuid, std::string const& parent,
                  std::string const& content, std::string const& more = {}) {
    return R"({"type":")" + role + R"(","uuid":")" + uuid + R"(","parentUuid":)" +
           (parent.empty() ? "null" : '"' + parent + '"') + R"(,"sessionId":"s1","cwd":"/srv",)" +
           R"("timestamp":"2026-01-31T12:00:00.250Z",)" + more + R"("message":{"role":")" + role +
           R"(","content":)" + content + "}}\n";
}

std::string claude_text(std::string const& text) {
    return R"([{"type":"text","text":")" + text + R"("}])";
}

TEST(Transcript, ClaudeCode_PairsResultsAndLeavesOutWhatWasTakenBack) {
    std::string const use = R"({"type":"tool_use","name":"Bash","id":)";
    auto const read = read_text(
        Program::claude_code,
        R"({"type":"summary","summary":"Files"})"
        "\n" +
            entry("user", "1", "", R"("list")") +
            entry("user", "1b", "1", R"("caveat")", R"("isMeta":true,)") +
            entry("assistant", "2", "1",
                  R"([{"type":"thinking","thinking":"hm"},)" + use + R"("c1","input":{"a":1}}])") +
            entry("assistant", "3", "2", "[" + use + R"("c2","input":{"a":2}}])") +
            entry("user", "4", "2",
                  R"([{"type":"tool_result","tool_use_id":"c1","content":)" + claude_text("a b") +
                      "}]") +
            entry("assistant", "x", "2", claude_text("aside"), R"("isSidechain":true,)") +
            entry("assistant", "5", "4", claude_text("two")) + entry("user", "6", "5", R"("ok?")") +
            entry("user", "7", "5", R"("thanks")") +
            entry("assistant", "8", "6", claude_text("gone")) + R"({"type":"assi)",
        "file");
    EXPECT_EQ(text_of(read),
              "u: text(list)\n"
              "a: reasoning(hm) tool(Bash{\"a\":1}=completed a b) "
              "tool(Bash{\"a\":2}=error -) text(two)\n"
              "u: text(thanks)\n");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->session.id, "s1");
    EXPECT_EQ(read->session.title, "Files");
    EXPECT_EQ(read->session.directory, "/srv");
    EXPECT_EQ(read->session.created, 1'769'860'800'250);
    EXPECT_TRUE(read->left_out.empty()) << "a crash cut the last line off";
}

// A line of Codex.
std::string item(std::string const& payload) {
    return R"({"timestamp":"2026-01-31T12:00:00Z","type":"response_item","payload":)" + payload +
           "}\n";
}

std::string codex_text(std::string const& role, std::string const& text) {
    return R"({"type":"message","role":")" + role + R"(","content":[{"type":"text","text":")" +
           text + R"("}]})";
}

TEST(Transcript, Codex_PairsResultsAndLeavesOutItsOwnTexts) {
    auto const read = read_text(
        Program::codex,
        R"({"type":"session_meta","payload":{"id":"s2","cwd":"/srv"}})"
        "\n" +
            item(codex_text("user", "<environment_context>x")) + item(codex_text("user", "list")) +
            R"({"type":"event_msg","payload":{"type":"user_message","message":"list"}})"
            "\n" +
            item(R"({"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]})") +
            item(R"({"type":"function_call","name":"shell","call_id":"c1",)"
                 R"("arguments":"{\"a\":1}"})") +
            item(R"({"type":"function_call_output","call_id":"c1",)"
                 R"("output":"{\"output\":\"a b\",\"metadata\":{\"exit_code\":1}}"})") +
            "not json\n" + item(codex_text("assistant", "two")),
        "file");
    EXPECT_EQ(text_of(read),
              "u: text(list)\na: reasoning(hm) tool(shell{\"a\":1}=error a b) text(two)\n");
    ASSERT_TRUE(read);
    ASSERT_EQ(read->left_out.size(), 1U);
    EXPECT_TRUE(read->left_out[0].starts_with("line 8: ")) << read->left_out[0];
}

TEST(Transcript, CodexOfAnOlderRelease_IsRead) {
    auto const read =
        read_text(Program::codex,
                  R"({"id":"s3","timestamp":"2025-06-01T00:00:00Z"})"
                  "\n" +
                      codex_text("user", "hi") +
                      "\n"
                      R"({"type":"local_shell_call","call_id":"c1","action":{"command":["ls"]}})"
                      "\n"
                      R"({"type":"function_call_output","call_id":"c1","output":"a"})"
                      "\n",
                  "file");
    EXPECT_EQ(text_of(read), "u: text(hi)\na: tool(shell{\"command\":[\"ls\"]}=completed a)\n");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->session.id, "s3");
}

TEST(Transcript, Gemini_NewAndOldForm) {
    std::string const user = R"({"id":"1","type":"user","content":[{"text":"list"}]})";
    std::string const reply =
        R"({"id":"2","type":"gemini","content":"two","thoughts":[{"subject":"S","description":)"
        R"("d"}],"toolCalls":[{"id":"c1","name":"ls","args":{"path":"."},"status":"success",)"
        R"("result":[{"functionResponse":{"response":{"output":"a b"}}}]}]})";
    std::string const says =
        "u: text(list)\na: reasoning(S: d) text(two) tool(ls{\"path\":\".\"}=completed a b)\n";
    auto const old = read_text(
        Program::gemini, R"({"sessionId":"s4","messages":[)" + user + "," + reply + "]}", "file");
    EXPECT_EQ(text_of(old), says);
    ASSERT_TRUE(old);
    EXPECT_EQ(old->session.id, "s4");
    auto const now = read_text(
        Program::gemini,
        R"({"sessionId":"s5","projectHash":"h"})"
        "\n" +
            user + "\n" + R"({"id":"2","type":"gemini","content":"tw"})" + "\n" + reply + "\n" +
            R"({"id":"3","type":"user","content":"x"})" + "\n" + R"({"$rewindTo":"3"})" + "\n",
        "file");
    EXPECT_EQ(text_of(now), says);
}

TEST(Transcript, OtherText_IsRefused) {
    for (Program const program : {Program::claude_code, Program::codex, Program::gemini})
        for (std::string const text : {"", "x", "{}", "[]", "{\"type\":\"user\"}\n", "null\n1\n"})
            EXPECT_FALSE(read_text(program, text, "file")) << text;
}

}  // namespace
}  // namespace dormouse::transcript
