#include "cli/commands/hook/settings_text.h"

#include "cli/commands/hook/plugin_text.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

HookEntry const entry{"/usr/bin/dormouse hook claude-code", 3'660'000};

std::string added(std::string_view text, HookProgram const& program = claude_code_hook,
                  HookEntry const& with = entry) {
    auto const out = with_hook(program, text, with);
    EXPECT_TRUE(out) << out.error();
    return out.value_or("");
}

std::string removed(std::string_view text, HookProgram const& program = claude_code_hook) {
    auto const out = without_hook(program, text);
    EXPECT_TRUE(out) << out.error();
    return out.value_or("");
}

TEST(HookSettings, EmptySettings_GetTheHook) {
    EXPECT_EQ(added("{}\n"), R"({
  "hooks": {
    "PermissionRequest": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/bin/dormouse hook claude-code",
            "timeout": 3660
          }
        ]
      }
    ]
  }
}
)");
}

TEST(HookSettings, EachProgram_HasItsForm) {
    EXPECT_EQ(added(R"({"a":1})", codex_hook, {"dormouse hook codex", 61'000}),
              R"({"a":1,"hooks": {"PermissionRequest":[{"hooks":[{"type":"command",)"
              R"("command":"dormouse hook codex","timeout":61}]}]}})");
    EXPECT_EQ(added(R"({"a":1})", gemini_hook, {"dormouse hook gemini", 61'000}),
              R"({"a":1,"hooks": {"BeforeTool":[{"matcher":)"
              R"("run_shell_command|write_file|replace|web_fetch|mcp_.*","hooks":[{"type":)"
              R"("command","command":"dormouse hook gemini","name":"dormouse",)"
              R"("timeout":61000}]}]}})");
}

TEST(HookSettings, ExistingSettings_ComeBackByteForByte) {
    for (std::string_view const text : {
             "{}",
             "\n {\"a\":1}\n\n",
             "{ \"a\": [1, 2.50], \"a2\": {} }",
             "{\n\t\"model\": \"x\\u00e9\",\n\t\"n\": 1e3\n}\n",
             "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": []}]\n  },\n  \"z\": 1\n}\n",
             "{\n  \"hooks\": {\n    \"PermissionRequest\": [\n      {\"matcher\": \"Bash\",\n"
             "       \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ]\n  }\n}",
             "{\"hooks\":{\"PermissionRequest\":[{\"hooks\":[{\"command\":\"x\"}]}]}}",
         }) {
        std::string const with = added(text);
        EXPECT_NE(with, text);
        EXPECT_EQ(added(with), with);
        EXPECT_EQ(removed(with), text);
        EXPECT_EQ(removed(text), text);
    }
}

TEST(HookSettings, OtherFlags_ReplaceTheHook) {
    std::string const first = added("{\"z\": 1}");
    std::string const second =
        added(first, claude_code_hook, {"/opt/dormouse hook claude-code --by ann", 61'000});
    EXPECT_TRUE(second.contains("--by ann"));
    EXPECT_FALSE(second.contains("/usr/bin"));
    EXPECT_EQ(removed(second), "{\"z\": 1}");
}

TEST(HookSettings, Removal_LeavesHooksOfOthers) {
    constexpr std::string_view text =
        R"({"hooks":{"PermissionRequest":[{"hooks":[{"command":"a"},)"
        R"({"command":"'/my dir/dormouse' hook claude-code"},{"command":"b"}]}],)"
        R"("PreToolUse":[{"hooks":[{"command":"dormouse hook claude-code"}]}]}})";
    EXPECT_EQ(removed(text),
              R"({"hooks":{"PermissionRequest":[{"hooks":[{"command":"a"},)"
              R"({"command":"b"}]}],)"
              R"("PreToolUse":[{"hooks":[{"command":"dormouse hook claude-code"}]}]}})");
    for (std::string_view const other :
         {"notdormouse hook claude-code", "dormouse hook claude-codex", "dormouse hook codex",
          "echo dormouse hooks"}) {
        std::string const foreign = R"({"hooks":{"PermissionRequest":[{"hooks":[{"command":")" +
                                    std::string(other) + "\"}]}]}}";
        EXPECT_EQ(removed(foreign), foreign);
    }
}

TEST(HookSettings, UnreadableSettings_AreRefused) {
    struct {
        std::string_view text, says;
    } const table[] = {
        {"", "not valid JSON"},
        {"{\"a\":1,}", "not valid JSON"},
        {"{} // note", "not valid JSON"},
        {"{\"a\":1,\"a\":2}", "not valid JSON"},
        {"[]", "must hold a JSON object"},
        {"{\"hooks\":[]}", "hooks must be an object"},
        {"{\"hooks\":{\"PermissionRequest\":{}}}", "hooks.PermissionRequest must be an array"},
    };
    for (auto const& [text, says] : table) {
        for (auto const& out :
             {with_hook(claude_code_hook, text, entry), without_hook(claude_code_hook, text)}) {
            ASSERT_FALSE(out) << text;
            EXPECT_TRUE(out.error().contains(says)) << out.error();
        }
    }
}

TEST(HookPlugin, Text_HasTheCommandAsJson) {
    std::string const text = plugin_text({"/my \"dir\"/dormouse", "hook", "opencode"});
    EXPECT_TRUE(text.contains(R"(const command = ["/my \"dir\"/dormouse","hook","opencode"];)"))
        << text;
    EXPECT_TRUE(is_own_plugin(text));
    EXPECT_FALSE(is_own_plugin("export const Mine = 1;"));
}

}  // namespace
}  // namespace dormouse::cli
