#include "http/resources/mcp/mcp_shared.h"

#include "runner/testing/world.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace dormouse::http {
namespace {

// The values of a store that two servers use.
class TestValues final : public port::SharedValues {
public:
    [[nodiscard]] Result<std::vector<port::SharedValue>> values(
        std::string const& prefix) override {
        if (away) return fail(Code::store_unavailable, "away");
        ++reads;
        std::vector<port::SharedValue> out;
        for (auto const& [name, value] : stored)
            if (name.starts_with(prefix)) out.push_back({name, damaged ? "" : value, value});
        return out;
    }
    [[nodiscard]] Result<bool> exchange(port::SharedValue const& next) override {
        auto const found = stored.find(next.name);
        bool const same = found == stored.end() ? next.mark.empty() : found->second == next.mark;
        if (same) stored[next.name] = next.value;
        return same && !std::exchange(lose_answer, false);
    }

    std::map<std::string, std::string> stored;
    bool away = false;
    bool damaged = false;
    bool lose_answer = false;  // of the next change
    int reads = 0;
};

struct TestServer {
    explicit TestServer(McpShared::Services services) : shared(std::move(services), sessions) {}
    McpSessions sessions;
    McpShared shared;
};

class McpSharedOf : public testing::Test {
protected:
    McpShared::Services services_of(port::SharedValues* shared) {
        return {loop, journal, shared, [this](std::string_view text) { sent.emplace_back(text); }};
    }
    std::string begin() { return a.sessions.begin("alice", std::string(43, 'a')); }
    // The error's code, or ok.
    std::string use(TestServer& server, std::string const& id) {
        std::string out;
        server.shared.use("alice", id, [&](Result<std::uint64_t> const& used) {
            after = used.value_or(0);
            out = used ? "ok" : std::string(info(used.error().code).text);
        });
        loop.run();
        return out;
    }
    std::string end(TestServer& server, std::string const& id) {
        std::string out;
        server.shared.end("alice", id, [&](Result<void> const& ended) {
            out = ended ? "ok" : std::string(info(ended.error().code).text);
        });
        loop.run();
        return out;
    }
    std::string cancel(TestServer& server, std::string const& id, std::string const& request) {
        std::string out;
        server.shared.cancel(id, {request}, [&](Result<void> const& stored) {
            out = stored ? "ok" : std::string(info(stored.error().code).text);
        });
        loop.run();
        return out;
    }
    // Opens a request as POST /mcp does.
    mcp::TicketPtr open(TestServer& server, std::string const& id, std::string const& request) {
        EXPECT_EQ(use(server, id), "ok");
        auto const ticket = std::make_shared<mcp::Ticket>();
        EXPECT_EQ(server.sessions.open(id, request, ticket, after), "");
        server.shared.follow();
        return ticket;
    }

    runner::testing::TestLoop loop;
    runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk> journal{loop};
    TestValues values;
    std::vector<std::string> sent;
    TestServer a{services_of(&values)};
    TestServer b{services_of(&values)};
    std::uint64_t after = 0;
};

TEST_F(McpSharedOf, Session_EndedAtOneServer_IsRefusedAtTheOther) {
    auto const id = begin();
    EXPECT_EQ(use(b, id), "ok");
    EXPECT_EQ(end(a, id), "ok");
    EXPECT_EQ(use(a, id), "not_found");
    EXPECT_EQ(use(b, id), "not_found");
    EXPECT_EQ(end(b, id), "not_found");
    TestServer restarted(services_of(&values));
    EXPECT_EQ(use(restarted, id), "not_found");
}

TEST_F(McpSharedOf, Session_EndedElsewhere_EndsRequestsWithinASecond) {
    auto const id = begin();
    auto const ticket = open(b, id, "7");
    EXPECT_EQ(end(a, id), "ok");
    EXPECT_FALSE(ticket->over());
    loop.advance(McpShared::apart);
    EXPECT_TRUE(ticket->over());
    EXPECT_EQ(b.sessions.count(), 0U);
}

TEST_F(McpSharedOf, Message_OfTheOtherServer_IsHandledAtOnce) {
    auto const id = begin();
    auto const ticket = open(b, id, "7");
    EXPECT_EQ(cancel(a, id, "7"), "ok");
    ASSERT_EQ(sent.size(), 1U);
    b.shared.on_signal(sent[0]);
    loop.run();
    EXPECT_TRUE(ticket->over());
    int const reads = values.reads;
    for (auto const* const other : {R"({"mcp":3})", R"({"mcp":"zz"})", R"({"mcp":)", "{}", ""})
        b.shared.on_signal(other);
    loop.run();
    EXPECT_EQ(values.reads, reads);
}

TEST_F(McpSharedOf, Withdrawal_ReachesOnlyRequestsBeforeIt) {
    auto const id = begin();
    auto const first = open(b, id, "7");
    auto const other = open(b, id, "8");
    EXPECT_EQ(cancel(a, id, "7"), "ok");
    b.sessions.close(id, "7");
    auto const second = open(b, id, "7");
    loop.advance(McpShared::apart);
    EXPECT_FALSE(second->over());
    EXPECT_FALSE(other->over());
    EXPECT_EQ(cancel(a, id, "7"), "ok");
    loop.advance(McpShared::apart);
    EXPECT_TRUE(second->over());
    EXPECT_FALSE(other->over());
}

TEST_F(McpSharedOf, ManySessions_AreReadTogether) {
    std::vector<mcp::TicketPtr> tickets;
    std::vector<std::string> ids;
    for (int i = 0; i < 100; ++i) {
        ids.push_back(a.sessions.begin("alice", std::to_string(100 + i) + std::string(40, 'x')));
        tickets.push_back(open(b, ids.back(), "1"));
    }
    for (std::string const& id : ids) EXPECT_EQ(cancel(a, id, "1"), "ok");
    int const reads = values.reads;
    loop.advance(McpShared::apart);
    EXPECT_EQ(values.reads, reads + 1);
    for (auto const& ticket : tickets) EXPECT_TRUE(ticket->over());
}

TEST_F(McpSharedOf, NothingOpen_IsNotReadAgain) {
    auto const id = begin();
    (void)open(b, id, "7");
    b.sessions.close(id, "7");
    int const reads = values.reads;
    loop.advance(McpShared::apart * 3);
    EXPECT_EQ(values.reads, reads);
    (void)open(b, id, "7");
    loop.advance(McpShared::apart * 3);
    EXPECT_EQ(values.reads, reads + 4) << "the request, and each second";
}

TEST_F(McpSharedOf, StoreAway_NothingIsAcknowledged) {
    auto const id = begin();
    auto const ticket = open(b, id, "7");
    values.away = true;
    EXPECT_EQ(end(a, id), "store_unavailable");
    EXPECT_EQ(cancel(a, id, "7"), "store_unavailable");
    EXPECT_EQ(use(b, id), "store_unavailable");
    loop.advance(McpShared::apart * 2);
    values.away = false;
    EXPECT_EQ(use(a, id), "ok");
    EXPECT_FALSE(ticket->over());
    EXPECT_EQ(cancel(a, id, "7"), "ok");
    loop.advance(McpShared::apart * 2);
    EXPECT_TRUE(ticket->over()) << "reading continues after a failure";
}

TEST_F(McpSharedOf, LostAnswerOfTheStore_StillEndsOnce) {
    auto const id = begin();
    values.lose_answer = true;
    EXPECT_EQ(end(a, id), "ok");
    EXPECT_EQ(end(a, id), "not_found");
    EXPECT_EQ(sent.size(), 1U);
}

TEST_F(McpSharedOf, DamagedValue_IsReplaced) {
    auto const id = begin();
    EXPECT_EQ(cancel(a, id, "7"), "ok");
    values.damaged = true;
    EXPECT_EQ(use(a, id), "ok");
    EXPECT_EQ(end(a, id), "ok");
    values.damaged = false;
    EXPECT_EQ(use(b, id), "not_found");
}

TEST_F(McpSharedOf, ServerAlone_NeedsNoStore) {
    TestServer alone(services_of(nullptr));
    auto const id = alone.sessions.begin("alice", std::string(43, 'a'));
    auto const ticket = open(alone, id, "7");
    auto const other = open(alone, id, "8");
    EXPECT_EQ(cancel(alone, id, "7"), "ok");
    EXPECT_TRUE(ticket->over());
    EXPECT_FALSE(other->over());
    EXPECT_EQ(end(alone, id), "ok");
    EXPECT_TRUE(other->over());
    EXPECT_EQ(end(alone, id), "not_found");
    EXPECT_EQ(use(alone, id), "not_found");
    EXPECT_EQ(values.reads, 0);
}

}  // namespace
}  // namespace dormouse::http
