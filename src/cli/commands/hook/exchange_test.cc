#include "cli/commands/hook/exchange.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

constexpr std::string_view bash = R"({"session_id":"s1","transcript_path":"/t",)"
                                  R"("cwd":"/home/ann/shop","permission_mode":"default",)"
                                  R"("hook_event_name":"PermissionRequest","tool_name":"Bash",)"
                                  R"("tool_input":{"command":"ls", "n": 1.0}})";

HookQuestion read(HookProgram const& program, std::string_view text) {
    auto const question = read_question(program, text);
    EXPECT_TRUE(question) << question.error();
    return question.value_or(HookQuestion{});
}

std::string error(HookProgram const& program, std::string const& text) {
    auto const question = read_question(program, text);
    EXPECT_FALSE(question) << text;
    return question ? "" : question.error();
}

TEST(HookExchange, PermissionRequest_KeepsTheInput) {
    for (HookProgram const* const program : {&claude_code_hook, &codex_hook}) {
        HookQuestion const question = read(*program, bash);
        EXPECT_EQ(question.event, "PermissionRequest");
        EXPECT_EQ(question.tool, "Bash");
        EXPECT_EQ(question.folder, "/home/ann/shop");
        EXPECT_EQ(question.session, "s1");
        EXPECT_EQ(question.input.text(), R"({"command":"ls","n":1.0})");
    }
}

TEST(HookExchange, Plugin_PassesOnTheRequestOfEachRelease) {
    HookQuestion const now =
        read(opencode_hook, R"({"directory":"/w","request":{"id":"per_1","sessionID":"ses_1",)"
                            R"("permission":"bash","patterns":["ls"],"metadata":{}}})");
    EXPECT_EQ(now.tool, "bash");
    EXPECT_EQ(now.folder, "/w");
    EXPECT_EQ(now.session, "ses_1");
    EXPECT_EQ(now.input.text(), R"({"id":"per_1","sessionID":"ses_1","permission":"bash",)"
                                R"("patterns":["ls"],"metadata":{}})");
    EXPECT_EQ(read(opencode_hook, R"({"request":{"id":"p","type":"edit"}})").tool, "edit");
}

TEST(HookExchange, OddInput_IsRefusedWithItsReason) {
    std::string const event = R"("hook_event_name":"PermissionRequest")";
    std::string const long_text(hook_arguments_max, 'x');
    struct {
        std::string text;
        std::string_view says;
    } const table[] = {
        {"", "not JSON"},
        {"nonsense", "not JSON"},
        {"[]", "hook_event_name must be PermissionRequest"},
        {R"({"hook_event_name":"Stop"})", "hook_event_name must be"},
        {R"({"hook_event_name":7})", "hook_event_name must be"},
        {"{" + event + R"(,"tool_input":{}})", "name of the tool"},
        {"{" + event + R"(,"tool_name":"a b","tool_input":{}})", "name of the tool"},
        {"{" + event + R"(,"tool_name":"Bash"})", "tool_input must be an object"},
        {"{" + event + R"(,"tool_name":"Bash","tool_input":"ls"})", "must be an object"},
        {"{" + event + R"(,"tool_name":"A","tool_name":"B","tool_input":{}})", "not JSON"},
        {"{" + event + R"(,"tool_name":"Bash","tool_input":{"c":")" + long_text + "\"}}",
         "at most 64 KiB"},
        {std::string(hook_input_max + 1, ' '), "at most 1 MiB"},
    };
    for (auto const& [text, says] : table)
        EXPECT_TRUE(error(claude_code_hook, text).contains(says)) << text.substr(0, 80);
    EXPECT_TRUE(error(codex_hook, R"({"hook_event_name":"PreToolUse"})").contains("must be"));
    EXPECT_TRUE(error(opencode_hook, R"({"request":"x"})").contains("name of the tool"));
}

TEST(HookExchange, Heading_SaysWhoWantsWhatWhere) {
    HookQuestion question{.tool = "Bash", .folder = "/home/ann/shop"};
    EXPECT_EQ(heading(claude_code_hook, question),
              "Claude Code wants to run Bash in /home/ann/shop");
    question.folder = "/w/[x](y)\n*";
    EXPECT_EQ(heading(codex_hook, question), "Codex wants to run Bash in `/w/[x](y) *`");
    question.folder = "/w/`a`";
    EXPECT_EQ(heading(gemini_hook, question), "Gemini CLI wants to run Bash in `` /w/`a` ``");
    question.tool = "mcp__shop__pay";
    question.folder = "";
    EXPECT_EQ(heading(opencode_hook, question), "opencode wants to run `mcp__shop__pay`");
}

TEST(HookExchange, Decision_HasTheFormOfTheProgram) {
    HookDecision const yes{.allowed = true, .by = "ann"};
    HookDecision const no{.allowed = false, .by = "ann", .reason = "too \"risky\""};
    std::string const reason = R"("Denied by ann: too \"risky\"")";
    std::string_view const request = "PermissionRequest";
    for (HookProgram const* const program : {&claude_code_hook, &codex_hook}) {
        EXPECT_EQ(decision_text(*program, request, yes),
                  R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",)"
                  R"("decision":{"behavior":"allow"}}})"
                  "\n");
        EXPECT_EQ(decision_text(*program, request, no),
                  R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",)"
                  R"("decision":{"behavior":"deny","message":)" +
                      reason + "}}}\n");
    }
    EXPECT_EQ(decision_text(claude_code_hook, "PreToolUse", yes),
              R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",)"
              R"("permissionDecisionReason":"Approved by ann"}})"
              "\n");
    EXPECT_EQ(decision_text(gemini_hook, "BeforeTool", yes), "{\"decision\":\"allow\"}\n");
    EXPECT_EQ(decision_text(gemini_hook, "BeforeTool", no),
              "{\"decision\":\"deny\",\"reason\":" + reason + "}\n");
    EXPECT_EQ(decision_text(opencode_hook, "", yes), "{\"reply\":\"once\"}\n");
    EXPECT_EQ(decision_text(opencode_hook, "", no),
              "{\"reply\":\"reject\",\"message\":" + reason + "}\n");
}

TEST(HookExchange, NoDecision_LeavesTheQuestionToTheProgram) {
    EXPECT_EQ(decision_text(claude_code_hook, "PermissionRequest", {}), "");
    EXPECT_EQ(decision_text(claude_code_hook, "PreToolUse", {}), "");
    EXPECT_EQ(decision_text(codex_hook, "PermissionRequest", {}), "");
    EXPECT_EQ(decision_text(opencode_hook, "", {}), "");
    EXPECT_EQ(decision_text(gemini_hook, "", {}), "{\"decision\":\"ask\"}\n");
}

}  // namespace
}  // namespace dormouse::cli
