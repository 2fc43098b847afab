// Permissions that an agent asks for.
#include "acp/testing/driver_fixture.h"

#include <algorithm>

namespace dormouse::acp {
namespace {

using namespace session;

using testing::default_options;
using testing::DriverTest;

TEST_F(DriverTest, Permission_IsAnsweredWithOptionOfTheKind) {
    prompt();
    attach();
    (void)taken();
    asks(default_options);
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"a":1})");
    agents->notify(session, {2, 1, true, false});  // of another attempt
    EXPECT_EQ(last_line().find("outcome"), std::string::npos);
    agents->notify(session, {1, 1, true, false});
    EXPECT_NE(
        last_line().find(R"("id":77,"result":{"outcome":{"outcome":"selected","optionId":"b"}})"),
        std::string::npos);
    asks(default_options);
    agents->notify(session, {1, 2, false, false});
    EXPECT_NE(last_line().find(R"("optionId":"c")"), std::string::npos);
    asks(R"([{"optionId":"a","kind":"allow_always"}])");
    agents->notify(session, {1, 3, false, false});
    EXPECT_NE(last_line().find(R"({"outcome":"cancelled"})"), std::string::npos);
}

// In the form of Gemini: the request has only a title and content.
TEST_F(DriverTest, Permission_WithoutInput_ShowsWhatTheRequestHolds) {
    prompt();
    attach();
    (void)taken();
    auto const ask = [&](std::string const& call) {
        processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"t1",)" +
                      call + "},\"options\":[]}}");
    };
    ask(R"("kind":"execute","title":"echo harmless","content":[],"locations":[])");
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"kind":"execute","title":"echo harmless"})");
    EXPECT_TRUE(last_ask.spec.shown);
    Sha256 const harmless = last_ask.spec.input_digest;
    ask(R"("kind":"execute","title":"echo EVIL","content":[],"locations":[])");
    (void)taken();
    EXPECT_NE(last_ask.spec.input_digest, harmless);
    ask(R"("kind":"edit","title":"a.c","content":[{"type":"diff","path":"a.c"}],"rawInput":{})");
    EXPECT_EQ(taken(), R"(ask3:acp:edit:{"kind":"edit","title":"a.c",)"
                       R"("content":[{"type":"diff","path":"a.c"}]})");
    EXPECT_TRUE(last_ask.spec.shown);
    ask(R"("kind":"execute","title":"bash","rawInput":{})");
    EXPECT_EQ(taken(), R"(ask4:acp:execute:{"kind":"execute","title":"bash"})");
    EXPECT_FALSE(last_ask.spec.shown) << "the tool's name does not show the command";
    ask(R"("kind":"execute")");
    EXPECT_EQ(taken(), "ask5:acp:execute:null");
    EXPECT_FALSE(last_ask.spec.shown);
}

TEST_F(DriverTest, Permission_WithoutInput_ShowsEarlierToolCallInput) {
    prompt();
    attach();
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","status":"pending",)"
           R"("rawInput":{"command":"ls"}})");
    (void)taken();
    processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                  R"({"sessionId":"s1","toolCall":{"toolCallId":"t1","kind":"execute",)"
                  R"("title":"bash","rawInput":{}},"options":[]}})");
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"kind":"execute","title":"bash",)"
                       R"("input":{"command":"ls"}})");
    EXPECT_FALSE(last_ask.spec.shown);
}

// In the form of the protocol's own example: the request is an update of its tool call.
TEST_F(DriverTest, Permission_NamesOnlyItsCall_ShowsEarlierUpdates) {
    prompt();
    attach();
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","kind":"execute","name":"Bash",)"
           R"("title":"List it","rawInput":{"command":"ls"}})");
    (void)taken();
    processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                  R"({"sessionId":"s1","toolCall":{"toolCallId":"t1"},"options":[]}})");
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"kind":"execute","title":"List it",)"
                       R"("input":{"command":"ls"}})");
    EXPECT_EQ(last_ask.terms.message, "List it");
    EXPECT_NE(std::ranges::find(last_ask.names, "acp:bash"), last_ask.names.end())
        << "gates know it";
    EXPECT_FALSE(last_ask.spec.shown);
}

// In the form of Codex: the input holds ids of the call, which differ after a restart.
TEST_F(DriverTest, Permission_InputHoldsCallIds_LeavesThemOut) {
    prompt();
    attach();
    (void)taken();
    auto const ask = [&](std::string const& input) {
        processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"c7","kind":"execute",)"
                      R"("rawInput":)" +
                      input + "},\"options\":[]}}");
    };
    ask(R"({"call_id":"c7","turn_id":"2","started_at_ms":5,"command":["ls"],"cwd":"/w"})");
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"command":["ls"],"cwd":"/w"})");
    ask(R"({"call_id":"another","turn_id":"2"})");
    EXPECT_EQ(taken(), R"(ask2:acp:execute:{"call_id":"another","turn_id":"2"})")
        << "an argument of that name";
}

TEST_F(DriverTest, Permission_ToolOfOurServer_NamesTool) {
    prompt();
    attach();
    (void)taken();
    auto const own = [&](std::string const& call, std::string const& options) {
        processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"t1",)" +
                      call + "},\"options\":[" + options + "]}}");
        return last_ask.own;
    };
    std::string const of_mcp =
        R"({"optionId":"proceed_always_server","kind":"allow_always","name":"Always Allow x"})";
    EXPECT_EQ(own(R"("_meta":{"claudeCode":{"toolName":"mcp__dormouse__deploy"}})", ""),
              "mcp__dormouse__deploy");
    EXPECT_EQ(own(R"("name":"mcp__dormouse__inbox")", ""), "mcp__dormouse__inbox");
    EXPECT_EQ(own(R"x("title":"deploy (dormouse MCP Server)")x", of_mcp),
              "deploy (dormouse MCP Server)");
    EXPECT_EQ(own(R"x("title":"deploy (dormouse MCP Server)","kind":"execute")x", ""), "")
        << "a command with that description";
    EXPECT_EQ(own(R"x("title":"x (dormouse MCP Server) (evil MCP Server)")x", of_mcp), "");
    EXPECT_EQ(own(R"x("title":"rm -rf / (dormouse MCP Server)")x", of_mcp), "");
    EXPECT_EQ(own(R"("title":"mcp__dormouse__deploy")", ""), "") << "models write titles";
    EXPECT_EQ(own(R"("name":"mcp__dormouse2__deploy")", ""), "");
    EXPECT_EQ(own(R"("name":"mcp__dormouse__")", ""), "") << "no tool";
}

// Returns the digest of what a request is about, in a new process: two equal ones may differ only
// in ids.
class Shown : public DriverTest {
protected:
    static constexpr auto plain =
        R"("title":"Run it","kind":"execute","name":"look","rawInput":{"a":1},)"
        R"("locations":[{"path":"/a"}],"content":[{"type":"diff","path":"/a","newText":"x"}])";

    std::optional<Sha256> of(std::string const& call, std::string const& id = "t1",
                             std::string const& before = "",
                             std::string const& options = default_options) {
        agents.reset();
        agents = std::make_unique<ExternalAgents>(own, processes, loop);
        context.acp_session.clear();
        prompt();
        ready();
        processes.answer("session/new", R"({"sessionId":"s1"})");
        if (!before.empty())
            update(R"({"sessionUpdate":"tool_call","toolCallId":")" + id + "\"," + before + "}");
        processes.say(R"({"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":")" +
                      id + "\"," + call + R"(},"options":)" + options + "}}");
        return last_ask.spec.shown;
    }
};

TEST_F(Shown, Request_OtherIds_SameDigest) {
    auto const first = of(plain);
    ASSERT_TRUE(first);
    EXPECT_EQ(of(plain, "t2"), first);
    EXPECT_EQ(of(std::string(plain) + R"(,"status":"pending","_meta":{"trace":"7"})"), first);
    EXPECT_EQ(of(plain, "t1", R"("status":"in_progress","title":"Running")"), first)
        << "the request has more than the earlier update";
}

TEST_F(Shown, Request_OtherContent_OtherDigest) {
    auto const first = of(plain);
    std::pair<char const*, char const*> const changes[] = {
        {"Run it", "Run  it"},      {"execute", "edit"},
        {"\"look\"", "\"delete\""}, {R"("a":1)", R"("a":2)"},
        {"\"/a\"}]", "\"/b\"}]"},   {R"("newText":"x")", R"("newText":"y")"},
        {R"("name":"look",)", ""},  {R"("title")", R"("risk":"none","title")"},
    };
    for (auto const& [from, to] : changes) {
        std::string call = plain;
        call.replace(call.find(from), std::string_view(from).size(), to);
        auto const other = of(call);
        EXPECT_TRUE(other) << call;
        EXPECT_NE(other, first) << call;
    }
    EXPECT_NE(of(std::string(plain) + R"(,"_meta":{"claudeCode":{"toolName":"Bash"}})"), first);
    EXPECT_NE(of(std::string(plain) + R"(},"reason":"because","beside":{"a":1)"), first)
        << "a member of the request itself";
}

TEST_F(Shown, Request_OtherAllowOption_OtherDigest) {
    auto const with = [&](std::string const& options) { return of(plain, "t1", "", options); };
    auto const first = with(R"([{"optionId":"b","kind":"allow_once","name":"Yes"}])");
    EXPECT_EQ(with(R"([{"optionId":"n","kind":"reject_once"},)"
                   R"({"optionId":"b","kind":"allow_once","name":"Yes"}])"),
              first)
        << "the allow option is the same";
    EXPECT_NE(with(R"([{"optionId":"b","kind":"allow_always","name":"Yes"}])"), first);
    EXPECT_NE(with(R"([{"optionId":"b","kind":"allow_once","name":"Yes, and all others"}])"),
              first);
    EXPECT_NE(with("[]"), first);
}

TEST_F(Shown, Request_WithoutDetails_DigestCoversEarlierUpdates) {
    auto const before = [&](std::string const& outcome) {
        return of(R"("title":"Run it","kind":"execute")", "t1", outcome);
    };
    auto const first = before(R"("rawInput":{"command":"ls"},"name":"bash")");
    ASSERT_TRUE(first);
    EXPECT_EQ(before(R"("rawInput":{"command":"ls"},"name":"bash","title":"Bash")"), first);
    EXPECT_NE(before(R"("rawInput":{"command":"rm"},"name":"bash")"), first);
    EXPECT_NE(before(R"("rawInput":{"command":"ls"},"name":"sudo")"), first);
    EXPECT_NE(before(""), first);
    std::string const big(300'000, 'x');
    EXPECT_FALSE(before(R"("rawInput":{"command":")" + big + "\"}")) << "the input was cut";
    EXPECT_FALSE(of(plain, std::string(2'000, 'i'))) << "nothing is kept for an id of this length";
}

TEST_F(Shown, Request_WithTerminal_HasNoDigest) {
    EXPECT_FALSE(of(R"("title":"Run it","content":[{"type":"terminal","terminalId":"1"}])"))
        << "its command is not in the request";
}

TEST_F(Shown, Request_OtherProgramFolderOrSandbox_OtherDigest) {
    auto const first = of(plain);
    context.cwd = "/elsewhere";
    EXPECT_NE(of(plain), first);
    context.cwd.clear();
    EXPECT_EQ(of(plain), first);
    own.argv.emplace_back("--yolo");
    EXPECT_NE(of(plain), first);
    own.argv.pop_back();
    own.before = [](std::string const& folder) {
        return std::vector<std::string>{"bwrap", folder, "--"};
    };
    auto const confined = of(plain);
    EXPECT_NE(confined, first);
    own.before = nullptr;
    EXPECT_EQ(of(plain), first);
    own.random = [] { return std::string("another password"); };
    EXPECT_EQ(of(plain), first) << "random values of a process do not count";
}

TEST_F(DriverTest, Permissions_BeyondLimit_AreCancelledAtOnce) {
    prompt();
    attach();
    for (int i = 0; i < 64; ++i) asks(default_options);
    (void)taken();
    EXPECT_EQ(last_line().find("outcome"), std::string::npos);
    asks(default_options);
    EXPECT_EQ(taken(), "");
    EXPECT_NE(last_line().find(R"({"outcome":"cancelled"})"), std::string::npos);
}

TEST_F(DriverTest, Permission_OpenWhenTurnEnds_IsCancelled) {
    prompt();
    attach();
    asks(default_options);
    processes.answer("session/prompt", "{}");
    EXPECT_NE(last_line().find(R"("id":77,"result":{"outcome":{"outcome":"cancelled"}})"),
              std::string::npos)
        << last_line();
    std::size_t const lines = processes.newest().lines.size();
    agents->notify(session, {1, 1, true, false});
    EXPECT_EQ(processes.newest().lines.size(), lines) << "it was answered";
}

TEST_F(DriverTest, Permission_InvalidKind_BecomesOther) {
    prompt();
    attach();
    (void)taken();
    auto const ask = [&](std::string const& kind) {
        processes.say(R"({"jsonrpc":"2.0","id":77,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":")" +
                      std::string(2'000, 'i') + R"(","kind":")" + kind + R"(","title":")" +
                      std::string(20'000, 't') + R"(","rawInput":{"a":1}},"options":[]}})");
        return last_ask.spec.tool;
    };
    EXPECT_EQ(ask("EXECUTE"), "acp:execute") << "gates name it in lower case";
    EXPECT_EQ(ask("exe\\ncute"), "acp:other");
    EXPECT_EQ(ask(std::string(65, 'k')), "acp:other");
    EXPECT_EQ(last_ask.spec.model_id, "");
    EXPECT_LT(last_ask.terms.message.size(), 17'000U);
    EXPECT_NE(last_ask.terms.message.find("[cut: "), std::string::npos);
}

}  // namespace
}  // namespace dormouse::acp
