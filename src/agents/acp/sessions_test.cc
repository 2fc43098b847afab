// What is asked of programs about their sessions, by what they say that they can: to list them, to
// let go of one, and to delete what is deleted here. With programs that lie, hang and refuse.
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
    // In our folder, touched when the turn had begun.
    std::string fresh(std::string const& id, std::string const& at = "2026-11-21T19:40:01Z") {
        return entry(id, R"(,"cwd":"/srv","updatedAt":")" + at + "\"");
    }
    void list(std::string const& sessions, std::string const& more = "") {
        processes.answer("session/list", R"({"sessions":[)" + sessions + "]" + more + "}");
    }
    // A session that was prompted before; its program has just been started again.
    void again(std::string const& capabilities) {
        context.acp_session = "s1";
        prompt("hello", 2);
        ready(capabilities);
    }
    // The process before this one was killed before the id of its session was written down.
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
        programs->forget({session, std::move(names), cwd}, [this](Result<void> done) {
            add(done ? "forgotten" : "kept:" + std::string(info(done.error().code).text));
            if (!done) why = done.error().detail;
        });
        loop.run();
    }
};

TEST_F(SessionsTest, OneThatIsUnknownAndNotListedIsToldAnew) {
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    EXPECT_EQ(last_line(), R"({"jsonrpc":"2.0","id":3,"method":"session/list","params":)"
                           R"({"cwd":"/srv"}})");
    list(entry("other"));
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:told");
}

TEST_F(SessionsTest, OneThatIsListedIsTriedOnceMoreByTheOtherWay) {
    again(R"({"loadSession":true,"sessionCapabilities":{"list":{},"resume":{}}})");
    processes.refuse("session/load", -32002, unknown);
    list(entry("other"), R"(,"nextCursor":"p2")");
    EXPECT_NE(last_line().find(R"("cursor":"p2")"), std::string::npos);
    list(entry("s1"));
    processes.answer("session/resume", "{}");
    EXPECT_EQ(taken(), "attach:resume:s1");
    EXPECT_NE(prompted().find("You may have begun"), std::string::npos);
}

TEST_F(SessionsTest, OneThatListsWhatItDoesNotKnowIsAskedTwiceAndNotForEver) {
    again(lists);
    processes.refuse("session/load", -32603, "no such session");
    list(entry("s1"));
    EXPECT_EQ(count("session/load"), 2U);
    processes.refuse("session/load", -32603, "no such session");
    EXPECT_EQ(count("session/list"), 1U);
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:told");
}

TEST_F(SessionsTest, WhoSaysNothingOfAListIsNotAskedForOne) {
    for (char const* const capabilities :
         {R"({"loadSession":true})",
          R"({"loadSession":true,"sessionCapabilities":{"list":null}})"}) {
        programs = std::make_unique<Programs>(own, processes, loop);
        again(capabilities);
        processes.refuse("session/load", -32002, unknown);
        EXPECT_EQ(processes.methods(), "initialize session/load session/new");
    }
}

TEST_F(SessionsTest, AListThatHangsOrIsRefusedOrNeverEndsHoldsNothingUp) {
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    loop.pass(Duration(9'999));
    EXPECT_EQ(count("session/new"), 0U);
    loop.pass(Duration(1));
    EXPECT_EQ(count("session/new"), 1U);
    list(entry("s1"));  // too late
    EXPECT_EQ(count("session/load"), 1U);
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:told");

    programs = std::make_unique<Programs>(own, processes, loop);
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    processes.refuse("session/list", -32601, "Method not found");
    EXPECT_EQ(count("session/new"), 1U);

    programs = std::make_unique<Programs>(own, processes, loop);
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    for (int i = 0; i < 100 && count("session/new") == 0; ++i)
        list(entry("other"), R"(,"nextCursor":")" + std::to_string(i) + "\"");
    EXPECT_EQ(count("session/list"), 50U);

    programs = std::make_unique<Programs>(own, processes, loop);
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    list(entry("other"), R"(,"nextCursor":"same")");
    list(R"(7,{"sessionId":8},null)", R"(,"nextCursor":"same")");
    EXPECT_EQ(count("session/list"), 2U);
    EXPECT_EQ(count("session/new"), 1U);
}

TEST_F(SessionsTest, ADeathWhileItListsIsToldOnce) {
    again(lists);
    processes.refuse("session/load", -32002, unknown);
    processes.die();
    EXPECT_EQ(taken(), "died:agent_crashed");
    loop.pass(Duration(10'000));
    EXPECT_EQ(taken(), "");
}

TEST_F(SessionsTest, ASessionWhoseIdNobodyWroteDownIsFoundByItsMarker) {
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
    EXPECT_NE(prompted().find("Go on where you were"), std::string::npos);
    EXPECT_EQ(prompted().find("hello"), std::string::npos);
}

TEST_F(SessionsTest, WhatIsLookedAtIsLetGoOf) {
    forgotten(all);
    list(fresh("a"));
    processes.answer("session/load", "{}");
    EXPECT_NE(last_line().find(R"("method":"session/close","params":{"sessionId":"a"})"),
              std::string::npos);
    processes.refuse("session/close", -32603, "not now");
    EXPECT_EQ(count("session/new"), 1U);
}

TEST_F(SessionsTest, WhatCouldBeAnothersIsNotTaken) {
    forgotten();
    list(fresh("a") + "," + fresh("b"));
    shows_marker_of("a", 2);  // of another turn
    processes.refuse("session/load", -32002, unknown);
    EXPECT_EQ(count("session/new"), 1U) << "none is ours";

    programs = std::make_unique<Programs>(own, processes, loop);
    forgotten();
    list(fresh("a") + "," + fresh("b"));
    shows_marker_of("a");
    shows_marker_of("b");
    EXPECT_EQ(count("session/new"), 1U) << "one is a copy";

    programs = std::make_unique<Programs>(own, processes, loop);
    forgotten();
    std::string many;
    for (char c = 'a'; c < 'j'; ++c) many += (c == 'a' ? "" : ",") + fresh(std::string(1, c));
    list(many);
    EXPECT_EQ(count("session/load"), 0U) << "there are too many to be sure";
    EXPECT_EQ(count("session/new"), 1U);
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2");
}

TEST_F(SessionsTest, OneThatNeverShowsAnothersSessionHoldsNothingUp) {
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

TEST_F(SessionsTest, AFirstAttemptAndOneThatCanShowNoPastLookForNothing) {
    prompt();
    ready(all);
    EXPECT_EQ(processes.methods(), "initialize session/new");
    programs = std::make_unique<Programs>(own, processes, loop);
    forgotten(R"({"sessionCapabilities":{"list":{},"resume":{}}})");
    EXPECT_EQ(processes.methods(), "initialize session/new");
}

TEST_F(SessionsTest, AnIdleOneLetsGoOfItsSessionBeforeItIsEnded) {
    prompt();
    ready(all);
    processes.answer("session/new", R"({"sessionId":"s1"})");
    processes.answer("session/prompt", "{}");
    (void)taken();
    loop.pass(Duration(600'000));
    EXPECT_EQ(last_line(), R"({"jsonrpc":"2.0","id":4,"method":"session/close","params":)"
                           R"({"sessionId":"s1"}})");
    EXPECT_FALSE(processes.newest().asked_to_end);
    prompt("more");  // waits: never two processes on one session
    processes.answer("session/close", "{}");
    EXPECT_TRUE(processes.newest().asked_to_end);
    EXPECT_EQ(processes.all.size(), 1U);
    processes.die();
    loop.run();
    EXPECT_EQ(processes.all.size(), 2U);
}

TEST_F(SessionsTest, OneThatDoesNotLetGoIsEndedAllTheSame) {
    for (bool const refuses : {true, false}) {
        programs = std::make_unique<Programs>(own, processes, loop);
        context.acp_session.clear();
        prompt();
        ready(all);
        processes.answer("session/new", R"({"sessionId":"s1"})");
        processes.answer("session/prompt", "{}");
        loop.pass(Duration(600'000));
        EXPECT_EQ(count("session/close"), 1U);
        if (refuses) processes.refuse("session/close", -32603, "no");
        if (!refuses) loop.pass(Duration(2'999));
        EXPECT_EQ(processes.newest().asked_to_end, refuses);
        loop.pass(Duration(1));
        EXPECT_TRUE(processes.newest().asked_to_end);
        processes.die();
        loop.run();
    }
}

TEST_F(SessionsTest, WhatIsDeletedHereIsDeletedAtTheProgramByAProcessOfItsOwn) {
    forget({"s1", "s0"}, "/src");
    ASSERT_EQ(processes.all.size(), 1U);
    EXPECT_EQ(processes.newest().spec.cwd, "/src");
    ready(all);
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "");
    processes.refuse("session/delete", -32002, unknown);  // gone is gone
    EXPECT_EQ(taken(), "forgotten");
    EXPECT_EQ(processes.methods(), "initialize session/delete session/delete");
    forget({"s3"});  // by the same process
    processes.answer("session/delete", "null");
    EXPECT_EQ(taken(), "forgotten");
    loop.pass(Duration(2'000));
    EXPECT_TRUE(processes.newest().asked_to_end);
    forget({"s4"});
    EXPECT_EQ(processes.all.size(), 2U);
}

// A deletion ends the session's work, and then removes it at the program.
TEST_F(SessionsTest, EndedAndThenForgotten_LetsGoOfTheSessionFirst) {
    prompt();
    ready(all);
    processes.answer("session/new", R"({"sessionId":"s1"})");
    processes.answer("session/prompt", "{}");
    (void)taken();
    programs->ended(session);
    forget();
    EXPECT_EQ(count("session/close"), 1U);
    EXPECT_FALSE(processes.newest().asked_to_end) << "its answer is awaited";
    processes.answer("session/close", "{}");
    EXPECT_TRUE(processes.newest().asked_to_end);
}

TEST_F(SessionsTest, AProcessThatWorksAtTheSessionEndsFirst) {
    prompt();
    ready(all);
    processes.answer("session/new", R"({"sessionId":"s1"})");
    processes.answer("session/prompt", "{}");
    (void)taken();
    forget();
    EXPECT_EQ(processes.all.size(), 1U);
    processes.answer("session/close", "{}");
    EXPECT_TRUE(processes.newest().asked_to_end);
    processes.die();
    loop.run();
    ASSERT_EQ(processes.all.size(), 2U);
    ready(all);
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "forgotten");
}

TEST_F(SessionsTest, AProgramThatDeletesNoneSaysSo) {
    forget();
    ready(lists);
    EXPECT_EQ(taken(), "kept:wrong_kind");
    EXPECT_NE(why.find("is still there"), std::string::npos);
    EXPECT_TRUE(processes.newest().asked_to_end);
    EXPECT_EQ(processes.methods(), "initialize");
    processes.die();
    forget();  // it is not asked again
    EXPECT_EQ(taken(), "kept:wrong_kind");
    EXPECT_EQ(processes.all.size(), 1U);
}

TEST_F(SessionsTest, WhatCouldNotBeDeletedIsToldWithoutSecretsAndTheNextGoesOn) {
    forget({"s1", "s0"});
    ready(all);
    forget({"s3"});
    processes.refuse("session/delete", -32603, "locked by s3cr3t-value");
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    EXPECT_EQ(why, "the program did not delete it: locked by ***");
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "forgotten");
}

TEST_F(SessionsTest, AnErrandThatDiesOrHangsOrCanNotBeginIsTold) {
    forget();
    ready(all);
    processes.die();
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    forget();
    loop.pass(Duration(90'000));
    EXPECT_TRUE(processes.newest().asked_to_end);
    processes.die();
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    EXPECT_EQ(why, "it did not answer in 90 s");
    forget({"s1"}, "/etc");  // a folder that may not be: another does
    EXPECT_EQ(processes.newest().spec.cwd, "/srv");
    processes.die();
    own.unavailable = "There is no program fake.";
    programs = std::make_unique<Programs>(own, processes, loop);
    (void)taken();
    forget();
    EXPECT_EQ(taken(), "kept:agent_unavailable");
    EXPECT_EQ(why, "There is no program fake.");
}

TEST_F(SessionsTest, OneThatWantsALoginIsSignedInFirst) {
    own.auth_method = "key";
    programs = std::make_unique<Programs>(own, processes, loop);
    forget();
    ready(all);
    EXPECT_EQ(processes.methods(), "initialize authenticate");
    processes.answer("authenticate", "{}");
    processes.answer("session/delete", "{}");
    EXPECT_EQ(taken(), "forgotten");
}

TEST_F(SessionsTest, AProgramWithoutASandboxServesOneProject) {
    EXPECT_EQ(programs->refusal("other"), "");
    own.only_project = "team";
    programs = std::make_unique<Programs>(own, processes, loop);
    EXPECT_EQ(programs->refusal("team"), "");
    EXPECT_NE(programs->refusal("other").find("the project \"team\" only"), std::string::npos);
    context.project = "other";  // made before the configuration said so
    prompt();
    EXPECT_EQ(taken(), "refused:agent_unavailable");
}

}  // namespace
}  // namespace dormouse::acp
