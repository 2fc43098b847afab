// Requests about the agent's sessions, as far as the agent reports that it supports them: list,
// close, and delete after a deletion here. The agents lie, hang and refuse.
#include "acp/testing/driver_fixture.h"

#include <gtest/gtest.h>

namespace dormouse::acp {
namespace {

using namespace session;
using testing::DriverTest;

class SessionsTest : public DriverTest {
protected:
    static constexpr auto unknown = "Resource not found";
    static constexpr auto all = R"({"loadSession":true,"sessionCapabilities":)"
                                R"({"resume":{},"list":{},"close":{},"delete":{}}})";
    static constexpr auto lists = R"({"loadSession":true,"sessionCapabilities":{"list":{}}})";

    std::string entry(std::string const& id, std::string const& more = R"(,"cwd":"/srv")") {
        return R"({"sessionId":")" + id + "\"" + more + "}";
    }
    // Is in our folder, and was changed after the turn had started.
    std::string fresh(std::string const& id, std::string const& at = "2026-11-21T19:40:01Z") {
        return entry(id, R"(,"cwd":"/srv","updatedAt":")" + at + "\"");
    }
    void list(std::string const& sessions, std::string const& more = "") {
        processes.answer("session/list", R"({"sessions":[)" + sessions + "]" + more + "}");
    }
    // Continues a session that was prompted before, with a new process of the agent.
    void again(std::string const& capabilities) {
        context.acp_session = "s1";
        prompt("hello", 2);
        ready(capabilities);
    }
    // Begins a turn again whose process was killed before the id of its session was stored.
    void forgotten(std::string const& capabilities = lists) {
        prompt("hello", 2);
        ready(capabilities);
    }
    void shows_marker_of(std::string const& id, std::uint32_t turn = 1) {
        std::string const text = "hello <!-- " + marker_of(session, turn, 1) + "1 -->";
        std::string const begin = R"({"sessionUpdate":"user_message_chunk","content":)";
        update(begin + R"({"type":"text","text":")" + text + "\"}}", id);
        processes.answer("session/load", "{}");
    }
    std::size_t count(std::string const& method) {
        std::string const text = " " + processes.methods() + " ";
        std::size_t out = 0;
        for (auto at = text.find(" " + method + " "); at != std::string::npos;
             at = text.find(" " + method + " ", at + 1))
            ++out;
        return out;
    }
    void forget(std::vector<std::string> names = {"s1"}, std::string const& cwd = "") {
        agents->forget({session, std::move(names), cwd}, [this](Result<void> done) {
            add(done ? "forgotten" : "kept:" + std::string(info(done.error().code).text));
            if (!done) why = done.error().detail;
        });
        loop.run();
    }
};

TEST_F(SessionsTest, UnknownSession_NotListed_IsReplacedByNewOne) {
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    EXPECT_EQ(last_line(), R"({"jsonrpc":"2.0","id":3,"method":"session/list","params":)"
                           R"({"cwd":"/srv"}})");
    list(entry("other"));
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:with_history");
}

TEST_F(SessionsTest, UnknownSession_Listed_IsTriedOnceInTheOtherWay) {
    again(R"({"loadSession":true,"sessionCapabilities":{"list":{},"resume":{}}})");
    processes.refuse("session/load", -32002, unknown);
    list(entry("other"), R"(,"nextCursor":"p2")");
    EXPECT_NE(last_line().find(R"("cursor":"p2")"), std::string::npos);
    list(entry("s1"));
    processes.answer("session/resume", "{}");
    EXPECT_EQ(taken(), "attach:resume:s1");
    EXPECT_NE(prompted().find("You may have started"), std::string::npos);
}

TEST_F(SessionsTest, UnknownSession_AlwaysListed_IsTriedOnlyTwice) {
    again(lists);
    processes.refuse("session/load", -32603, "no such session");
    list(entry("s1"));
    EXPECT_EQ(count("session/load"), 2U);
    processes.refuse("session/load", -32603, "no such session");
    EXPECT_EQ(count("session/list"), 1U);
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:with_history");
}

TEST_F(SessionsTest, NoListCapability_ListIsNotRequested) {
    for (char const* const capabilities :
         {R"({"loadSession":true})",
          R"({"loadSession":true,"sessionCapabilities":{"list":null}})"}) {
        agents = std::make_unique<ExternalAgents>(own, processes, loop);
        again(capabilities);
        processes.refuse("session/load", -32002, unknown);
        EXPECT_EQ(processes.methods(), "initialize session/load session/new");
    }
}

TEST_F(SessionsTest, List_StallsIsRefusedOrEndless_NewSession) {
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    loop.pass(Duration(9'999));
    EXPECT_EQ(count("session/new"), 0U);
    loop.pass(Duration(1));
    EXPECT_EQ(count("session/new"), 1U);
    list(entry("s1"));  // too late
    EXPECT_EQ(count("session/load"), 1U);
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:with_history");

    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    processes.refuse("session/list", -32601, "Method not found");
    EXPECT_EQ(count("session/new"), 1U);

    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    for (int i = 0; i < 100 && count("session/new") == 0; ++i)
        list(entry("other"), R"(,"nextCursor":")" + std::to_string(i) + "\"");
    EXPECT_EQ(count("session/list"), 50U);

    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    list(entry("other"), R"(,"nextCursor":"same")");
    list(R"(7,{"sessionId":8},null)", R"(,"nextCursor":"same")");
    EXPECT_EQ(count("session/list"), 2U);
    EXPECT_EQ(count("session/new"), 1U);
}

TEST_F(SessionsTest, DeathDuringList_IsReportedOnce) {
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    processes.die();
    EXPECT_EQ(taken(), "died:agent_crashed");
    loop.pass(Duration(10'000));
    EXPECT_EQ(taken(), "");
}

TEST_F(SessionsTest, SessionIdNotStored_IsFoundByMarker) {
    forgotten();
    list(fresh("old", "2026-11-21T19:39:00Z") + "," + fresh("a") + "," +
         entry("far", R"(,"cwd":"/home","updatedAt":"2026-11-21T19:40:01Z")") + "," +
         entry("when") + "," + fresh("b") + "," + fresh("b"));
    EXPECT_NE(last_line().find(R"("sessionId":"a","cwd":"/srv","mcpServers":[])"),
              std::string::npos)
        << last_line();
    processes.answer("session/load", "{}");
    EXPECT_NE(last_line().find(R"("sessionId":"b")"), std::string::npos);
    shows_marker_of("b");
    EXPECT_NE(last_line().find(R"("mcpServers":[{"name":"dormouse")"), std::string::npos);
    EXPECT_EQ(taken(), "");
    shows_marker_of("b");
    EXPECT_EQ(taken(), "attach:load:b");
    EXPECT_EQ(count("session/load"), 3U);
    EXPECT_EQ(count("session/new"), 0U);
    EXPECT_NE(prompted().find("Continue where you stopped"), std::string::npos);
    EXPECT_EQ(prompted().find("hello"), std::string::npos);
}

TEST_F(SessionsTest, SearchedSession_IsClosed) {
    forgotten(all);
    list(fresh("a"));
    processes.answer("session/load", "{}");
    EXPECT_NE(last_line().find(R"("method":"session/close","params":{"sessionId":"a"})"),
              std::string::npos);
    processes.refuse("session/close", -32603, "not now");
    EXPECT_EQ(count("session/new"), 1U);
}

TEST_F(SessionsTest, AmbiguousSessions_AreNotUsed) {
    forgotten();
    list(fresh("a") + "," + fresh("b"));
    shows_marker_of("a", 2);  // of another turn
    processes.refuse("session/load", -32002, unknown);
    EXPECT_EQ(count("session/new"), 1U) << "none is ours";

    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    forgotten();
    list(fresh("a") + "," + fresh("b"));
    shows_marker_of("a");
    shows_marker_of("b");
    EXPECT_EQ(count("session/new"), 1U) << "one is a copy";

    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    forgotten();
    std::string many;
    for (char c = 'a'; c < 'j'; ++c) many += (c == 'a' ? "" : ",") + fresh(std::string(1, c));
    list(many);
    EXPECT_EQ(count("session/load"), 0U) << "there are too many to be sure";
    EXPECT_EQ(count("session/new"), 1U);
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2");
}

TEST_F(SessionsTest, ReplayThatStalls_SearchEndsInTime) {
    forgotten();
    list(fresh("a") + "," + fresh("b"));
    shows_marker_of("a");
    loop.pass(Duration(10'000));
    EXPECT_EQ(count("session/new"), 1U);
    shows_marker_of("b");  // too late
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2");
    EXPECT_EQ(count("session/load"), 2U);
}

TEST_F(SessionsTest, FirstAttemptOrNoReplay_DoesNotSearch) {
    prompt();
    ready(all);
    EXPECT_EQ(processes.methods(), "initialize session/new");
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    forgotten(R"({"sessionCapabilities":{"list":{},"resume":{}}})");
    EXPECT_EQ(processes.methods(), "initialize session/new");
}

TEST_F(SessionsTest, IdleProcess_ClosesItsSessionBeforeItEnds) {
    prompt();
    ready(all);
    processes.answer("session/new", R"({"sessionId":"s1"})");
    processes.answer("session/prompt", "{}");
    (void)taken();
    loop.pass(Duration(600'000));
    EXPECT_EQ(last_line(), R"({"jsonrpc":"2.0","id":4,"method":"session/close","params":)"
                           R"({"sessionId":"s1"}})");
    EXPECT_FALSE(processes.newest().end_requested);
    prompt("more");  // waits: never two processes on one session
    processes.answer("session/close", "{}");
    EXPECT_TRUE(processes.newest().end_requested);
    EXPECT_EQ(processes.all.size(), 1U);
    processes.die();
    loop.run();
    EXPECT_EQ(processes.all.size(), 2U);
}

TEST_F(SessionsTest, CloseRefusedOrStalled_ProcessEndsAnyway) {
    for (bool const refuses : {true, false}) {
        agents = std::make_unique<ExternalAgents>(own, processes, loop);
        context.acp_session.clear();
        prompt();
        ready(all);
        processes.answer("session/new", R"({"sessionId":"s1"})");
        processes.answer("session/prompt", "{}");
        loop.pass(Duration(600'000));
        EXPECT_EQ(count("session/close"), 1U);
        if (refuses) processes.refuse("session/close", -32603, "no");
        if (!refuses) loop.pass(Duration(2'999));
        EXPECT_EQ(processes.newest().end_requested, refuses);
        loop.pass(Duration(1));
        EXPECT_TRUE(processes.newest().end_requested);
        processes.die();
        loop.run();
    }
}

TEST_F(SessionsTest, DeletedSession_IsDeletedAtAgentByOwnProcess) {
    forget({"s1", "s0"}, "/src");
    ASSERT_EQ(processes.all.size(), 1U);
    EXPECT_EQ(processes.newest().spec.cwd, "/src");
    ready(all);
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "");
    processes.refuse("session/delete", -32002, unknown);  // not known counts as deleted
    EXPECT_EQ(taken(), "forgotten");
    EXPECT_EQ(processes.methods(), "initialize session/delete session/delete");
    forget({"s3"});  // by the same process
    processes.answer("session/delete", "null");
    EXPECT_EQ(taken(), "forgotten");
    loop.pass(Duration(2'000));
    EXPECT_TRUE(processes.newest().end_requested);
    forget({"s4"});
    EXPECT_EQ(processes.all.size(), 2U);
}

// A deletion ends the session's work first, then deletes the session at the agent.
TEST_F(SessionsTest, EndedThenForgotten_ClosesTheSessionFirst) {
    prompt();
    ready(all);
    processes.answer("session/new", R"({"sessionId":"s1"})");
    processes.answer("session/prompt", "{}");
    (void)taken();
    agents->ended(session);
    forget();
    EXPECT_EQ(count("session/close"), 1U);
    EXPECT_FALSE(processes.newest().end_requested) << "it waits for the answer to session/close";
    processes.answer("session/close", "{}");
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(SessionsTest, Forget_ProcessRunning_EndsBeforeDelete) {
    prompt();
    ready(all);
    processes.answer("session/new", R"({"sessionId":"s1"})");
    processes.answer("session/prompt", "{}");
    (void)taken();
    forget();
    EXPECT_EQ(processes.all.size(), 1U);
    processes.answer("session/close", "{}");
    EXPECT_TRUE(processes.newest().end_requested);
    processes.die();
    loop.run();
    ASSERT_EQ(processes.all.size(), 2U);
    ready(all);
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "forgotten");
}

TEST_F(SessionsTest, Forget_NoDeleteCapability_IsReported) {
    forget();
    ready(lists);
    EXPECT_EQ(taken(), "kept:wrong_kind");
    EXPECT_NE(why.find("still exists"), std::string::npos);
    EXPECT_TRUE(processes.newest().end_requested);
    EXPECT_EQ(processes.methods(), "initialize");
    processes.die();
    forget();  // it is not asked again
    EXPECT_EQ(taken(), "kept:wrong_kind");
    EXPECT_EQ(processes.all.size(), 1U);
}

TEST_F(SessionsTest, Delete_Refused_HidesSecretsAndNextContinues) {
    forget({"s1", "s0"});
    ready(all);
    forget({"s3"});
    processes.refuse("session/delete", -32603, "locked by s3cr3t-value");
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    EXPECT_EQ(why, "the program did not delete it: locked by ***");
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "forgotten");
}

TEST_F(SessionsTest, DeleterDiesStallsOrCannotStart_IsReported) {
    forget();
    ready(all);
    processes.die();
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    forget();
    loop.pass(Duration(90'000));
    EXPECT_TRUE(processes.newest().end_requested);
    processes.die();
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    EXPECT_EQ(why, "it did not answer in 90 s");
    forget({"s1"}, "/etc");  // a forbidden folder: another one is used
    EXPECT_EQ(processes.newest().spec.cwd, "/srv");
    processes.die();
    own.unavailable = "There is no program fake.";
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    (void)taken();
    forget();
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    EXPECT_EQ(why, "There is no program fake.");
}

TEST_F(SessionsTest, Deleter_LoginRequired_SignsInFirst) {
    own.auth_method = "key";
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    forget();
    ready(all);
    EXPECT_EQ(processes.methods(), "initialize authenticate");
    processes.answer("authenticate", "{}");
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "forgotten");
}

TEST_F(SessionsTest, NoSandbox_AgentServesOneProject) {
    EXPECT_EQ(agents->refusal("other"), "");
    own.only_project = "team";
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    EXPECT_EQ(agents->refusal("team"), "");
    EXPECT_NE(agents->refusal("other").find("the project \"team\" only"), std::string::npos);
    context.project = "other";  // created before the configuration named a project
    prompt();
    EXPECT_EQ(taken(), "refused:agent_unavailable");
}

}  // namespace
}  // namespace dormouse::acp
