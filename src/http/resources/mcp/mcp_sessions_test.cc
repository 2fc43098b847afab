#include "http/resources/mcp/mcp_sessions.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

std::string random_of(char c) { return std::string(43, c); }

TEST(McpSessions, Session_OfOneCaller_IsForNobodyElse) {
    McpSessions sessions;
    auto const id = sessions.begin("alice", random_of('a'));
    EXPECT_TRUE(sessions.use("alice", id));
    EXPECT_FALSE(sessions.use("bob", id));
    EXPECT_FALSE(sessions.end("bob", id));
    EXPECT_TRUE(sessions.end("alice", id));
    EXPECT_FALSE(sessions.use("alice", id)) << "it has ended";
}

TEST(McpSessions, IdOfAnotherProcess_OfThisCaller_IsTakenUp) {
    McpSessions other;
    McpSessions sessions;
    auto const id = other.begin("alice", random_of('b'));
    EXPECT_FALSE(sessions.use("bob", id)) << "also if the caller comes first";
    EXPECT_TRUE(sessions.use("alice", id));
    EXPECT_FALSE(sessions.use("bob", id));
    EXPECT_FALSE(sessions.use("alice", "mcp_" + random_of('b'))) << "nobody's";
    EXPECT_FALSE(sessions.use("alice", "mcp_" + random_of('/')));
    EXPECT_FALSE(sessions.use("alice", "mcp_short"));
    EXPECT_FALSE(sessions.use("alice", ""));
}

TEST(McpSessions, HowAClientAsks_IsInItsId) {
    for (bool const form : {false, true}) {
        for (bool const url : {false, true}) {
            McpSessions before, after;
            auto const id = before.begin("alice", random_of('a'), {.form = form, .url = url});
            EXPECT_TRUE(after.use("alice", id)) << id;
            EXPECT_EQ(McpSessions::client_of(id).form, form);
            EXPECT_EQ(McpSessions::client_of(id).url, url);
        }
    }
    McpSessions sessions;
    EXPECT_FALSE(sessions.use("alice", "mcp_" + random_of('a') + ".x"));
}

TEST(McpSessions, OpenRequest_SameIdOrTooMany_IsRefused) {
    McpSessions sessions;
    auto const id = sessions.begin("alice", random_of('a'));
    auto const ticket = std::make_shared<mcp::Ticket>();
    EXPECT_EQ(sessions.open(id, "1", ticket), "");
    EXPECT_EQ(sessions.open(id, "1", ticket), "a request with this id is open");
    sessions.close(id, "1");
    for (std::size_t i = 0; i < McpSessions::open_requests_max; ++i)
        EXPECT_EQ(sessions.open(id, std::to_string(i), ticket), "");
    EXPECT_NE(sessions.open(id, "more", ticket), "");
    EXPECT_FALSE(ticket->over());
    sessions.cancel(id, "none");
    EXPECT_FALSE(ticket->over());
    sessions.cancel(id, "1");
    EXPECT_TRUE(ticket->over());
}

TEST(McpSessions, TooManySessions_OldestIsForgotten) {
    McpSessions sessions;
    for (std::size_t i = 0; i < McpSessions::sessions_max + 5; ++i) {
        std::string random = std::to_string(i);
        random.resize(43, 'x');
        (void)sessions.begin("alice", random);
    }
    EXPECT_EQ(sessions.count(), McpSessions::sessions_max);
}

}  // namespace
}  // namespace dormouse::http
