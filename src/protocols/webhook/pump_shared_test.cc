// Messages that several processes may send, with one thread and virtual time.

#include "webhook/testing/pump_fixture.h"

#include <algorithm>

namespace dormouse::webhook {
namespace {

constexpr char shared_receiver[] = "https://hook.example.net/1";

class PumpShared : public testing::Test {
protected:
    PumpShared() : pump({loop, clock, entropy, journal, http, processes}, options()) {}

    Pump::Options options() {
        Pump::Options out;
        out.outgoing.hooks.push_back({shared_receiver, "", {"turn_ended"}});
        out.sharing = Pump::Options::Sharing{
            [this](std::uint64_t number) { return number % 2 == share; },
            [this](std::vector<port::OutboxKey> keys, Time until,
                   port::Fn<void(std::vector<port::OutboxKey>)> use) {
                EXPECT_EQ(until, clock.now() + Pump::claimed_for);
                queried += keys.size();
                if (taken_by_another) keys.clear();
                loop.post([keys, use = std::move(use)]() mutable { use(std::move(keys)); });
            },
            "a"};
        out.program = [this](port::OutboxRow const& row, std::string const& /*body*/,
                             Pump::Options::Done done) {
            programs.push_back(row.target);
            done({});
        };
        return out;
    }
    void post(std::uint64_t number, std::string target = shared_receiver,
              Letter::Kind kind = Letter::Kind::event) {
        port::OutboxRow row;
        row.target = std::move(target);
        row.body = write_letter({kind, std::nullopt, "", "{}", {}, "00000001"});
        journal.append(SessionId::make(number, {1}), 1, std::move(row), clock.now());
        pump.wake();
        loop.run();
    }

    std::uint64_t share = 1;  // this process has the odd numbers
    bool taken_by_another = false;
    std::size_t queried = 0;
    std::vector<std::string> programs;  // that were notified
    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    TestJournal journal{loop};
    HeldHttp http;
    NoProcesses processes;
    Pump pump;
};

TEST_F(PumpShared, MessageOfItsShare_IsClaimedAndSent) {
    post(7);
    EXPECT_EQ(queried, 1U);
    EXPECT_EQ(http.open.size(), 1U);
    pump.wake();
    loop.run();
    EXPECT_EQ(queried, 1U) << "it is on its way";
}

TEST_F(PumpShared, MessageToAProgram_IsSentByItsNodeAlone) {
    post(7, "agent:coder@b", Letter::Kind::program);
    EXPECT_EQ(queried, 0U);
    post(8, "agent:coder@a", Letter::Kind::program);
    EXPECT_EQ(programs, std::vector<std::string>{"agent:coder@a"});
    EXPECT_EQ(queried, 1U);
}

TEST_F(PumpShared, MessageOfAnotherShare_IsSentOnceItIsOverdue) {
    post(8);
    EXPECT_EQ(queried, 0U);
    loop.advance(Pump::overdue_after);
    pump.wake();
    loop.run();
    EXPECT_EQ(http.open.size(), 1U);
}

// The store fell back during the attempt, and the new history sends something else under its key.
TEST_F(PumpShared, OtherMessageOfTheSameKey_IsSent_UnderAnotherId) {
    post(7);
    ASSERT_EQ(http.open.size(), 1U);
    auto const id_of = [&] {
        auto const& headers = http.open.front().first.headers;
        return std::ranges::find(headers, "webhook-id", &port::HttpHeader::name)->value;
    };
    std::string const first = id_of();
    port::OutboxRow& row = journal.disk->posts.begin()->second;
    row.body = write_letter({Letter::Kind::event, std::nullopt, "", "{}", {}, "0a1b2c3d"});
    http.answer(200);
    loop.run();
    EXPECT_EQ(journal.disk->posts.begin()->second.state, OutboxState::pending);
    pump.wake();
    loop.run();
    ASSERT_EQ(http.open.size(), 1U);
    EXPECT_NE(id_of(), first);
    http.answer(200);
    loop.run();
    EXPECT_EQ(journal.disk->posts.begin()->second.state, OutboxState::delivered);
}

TEST_F(PumpShared, MessageThatAnotherHasTaken_IsNotSent) {
    taken_by_another = true;
    post(7);
    EXPECT_EQ(queried, 1U);
    EXPECT_TRUE(http.open.empty());
    taken_by_another = false;
    pump.wake();
    loop.run();
    EXPECT_EQ(http.open.size(), 1U) << "the next scan asks again";
}

}  // namespace
}  // namespace dormouse::webhook
