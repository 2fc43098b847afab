#include "transcript/transcript.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::transcript {
namespace {

// One line a message: its role, then its parts.
std::string told(Result<Transcript> const& read) {
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

TEST(Transcript, ClaudeCode_PairsResultsAndLeavesOutWhatWasTakenBack) {
    auto const read = read_text(Program::claude_code, R"({"type":"summary","summary":"Files"}
{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s1","cwd":"/srv","timestamp":"2026-01-31T12:00:00.250Z","message":{"role":"user","content":"lsit"}}
{"type":"user","uuid":"2","parentUuid":null,"sessionId":"s1","timestamp":"2026-01-31T12:00:01Z","message":{"role":"user","content":[{"type":"text","text":"list"}]}}
{"type":"user","uuid":"2b","parentUuid":"2","isMeta":true,"message":{"role":"user","content":"caveat"}}
{"type":"assistant","uuid":"3","parentUuid":"2","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"assistant","uuid":"4","parentUuid":"3","message":{"content":[{"type":"tool_use","id":"c2","name":"Bash","input":{"command":"sleep"}}]}}
{"type":"user","uuid":"5","parentUuid":"3","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a b"}]}]}}
{"type":"assistant","uuid":"x","parentUuid":"3","isSidechain":true,"message":{"content":[{"type":"text","text":"aside"}]}}
{"type":"assistant","uuid":"6","parentUuid":"5","message":{"content":[{"type":"text","text":"two"}]}}
{"type":"user","uuid":"7","parentUuid":"6","message":{"content":"ok?"}}
{"type":"user","uuid":"8","parentUuid":"6","message":{"content":"thanks"}}
{"type":"assistant","uuid":"9","parentUuid":"7","message":{"content":[{"type":"text","text":"gone"}]}}
{"type":"assi)",
                                "file");
    EXPECT_EQ(told(read),
              "u: text(lsit)\nu: text(list)\n"
              "a: reasoning(hm) tool(Bash{\"command\":\"ls\"}=completed a b) "
              "tool(Bash{\"command\":\"sleep\"}=error -) text(two)\n"
              "u: text(thanks)\n");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->session.id, "s1");
    EXPECT_EQ(read->session.title, "Files");
    EXPECT_EQ(read->session.directory, "/srv");
    EXPECT_EQ(read->session.created, 1'769'860'800'250);
    EXPECT_TRUE(read->left_out.empty()) << "a crash cut the last line off";
}

TEST(Transcript, Codex_NewAndOldForm) {
    auto const read = read_text(Program::codex, R"({"timestamp":"2026-01-31T12:00:00Z","type":"session_meta","payload":{"id":"s2","cwd":"/srv"}}
{"timestamp":"2026-01-31T12:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}}
{"timestamp":"2026-01-31T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"list"}]}}
{"timestamp":"2026-01-31T12:00:02Z","type":"event_msg","payload":{"type":"user_message","message":"list"}}
{"timestamp":"2026-01-31T12:00:02Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}}
{"timestamp":"2026-01-31T12:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}}
{"timestamp":"2026-01-31T12:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a b\",\"metadata\":{\"exit_code\":1}}"}}
not json
{"timestamp":"2026-01-31T12:00:04Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]}}
)",
                                "file");
    EXPECT_EQ(told(read), "u: text(list)\na: reasoning(hm) "
                          "tool(shell{\"command\":[\"ls\"]}=error a b) text(two)\n");
    ASSERT_TRUE(read);
    ASSERT_EQ(read->left_out.size(), 1U);
    EXPECT_TRUE(read->left_out[0].starts_with("line 8: "));
    auto const old = read_text(Program::codex, R"({"id":"s3","timestamp":"2025-06-01T00:00:00Z"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}
{"type":"local_shell_call","call_id":"c1","action":{"type":"exec","command":["ls"]}}
{"type":"function_call_output","call_id":"c1","output":"a"}
)",
                               "file");
    EXPECT_EQ(told(old), "u: text(hi)\na: "
                         "tool(shell{\"type\":\"exec\",\"command\":[\"ls\"]}=completed a)\n");
    EXPECT_EQ(old->session.id, "s3");
}

TEST(Transcript, Gemini_NewAndOldForm) {
    std::string const user = R"({"id":"1","timestamp":"2026-01-31T12:00:00Z","type":"user","content":[{"text":"list"}]})";
    std::string const reply = R"({"id":"2","type":"gemini","content":"two","thoughts":[{"subject":"S","description":"d"}],"toolCalls":[{"id":"c1","name":"ls","args":{"path":"."},"status":"success","result":[{"functionResponse":{"response":{"output":"a b"}}}]}]})";
    std::string const says =
        "u: text(list)\na: reasoning(S: d) text(two) tool(ls{\"path\":\".\"}=completed a b)\n";
    auto const old = read_text(
        Program::gemini, R"({"sessionId":"s4","projectHash":"h","messages":[)" + user + "," + reply + "]}",
        "file");
    EXPECT_EQ(told(old), says);
    EXPECT_EQ(old->session.id, "s4");
    auto const now = read_text(Program::gemini,
                               R"({"sessionId":"s5","projectHash":"h"})"
                               "\n" +
                                   user + "\n" + R"({"id":"2","type":"gemini","content":"tw"})" +
                                   "\n" + reply + "\n" + R"({"id":"3","type":"user","content":"x"})" +
                                   "\n" + R"({"$rewindTo":"3"})" + "\n",
                               "file");
    EXPECT_EQ(told(now), says);
}

TEST(Transcript, OtherText_IsRefused) {
    for (Program const program : {Program::claude_code, Program::codex, Program::gemini})
        for (std::string const text : {"", "x", "{}", "[]", "{\"type\":\"user\"}\n", "null\n1\n"})
            EXPECT_FALSE(read_text(program, text, "file")) << text;
}

}  // namespace
}  // namespace dormouse::transcript
