// The pump with one thread and virtual time.

#include "webhook/testing/pump_fixture.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace dormouse::webhook {
namespace {

std::string receiver(std::size_t n) {
    std::string const number = std::to_string(n);
    return "https://r" + std::string(5 - number.size(), '0') + number + ".example.org/";
}

class PumpTest : public testing::Test {
protected:
    PumpTest() : pump({loop, clock, entropy, journal, http, processes}, options()) {}

    static Pump::Options options() {
        Pump::Options out;
        for (std::size_t n = 0; n < 200; ++n)
            out.outgoing.hooks.push_back({receiver(n), "", {"turn_ended"}});
        return out;
    }
    // Stores one delivery for each receiver, in one append.
    void add_message(std::vector<std::string> const& targets) {
        port::Append append;
        append.session = session;
        append.epoch = 1;
        append.after = head++;
        append.frame = {head, 1, "[]"};
        append.row = port::SessionRow{session, "default", "a", "", "", "active", {}, {}};
        std::uint32_t n = 0;
        for (std::string const& target : targets) {
            port::OutboxRow row;
            row.key = {session, head, n++};
            row.kind = webhook_kind;
            row.target = target;
            row.body = write_letter({Letter::Kind::event, std::nullopt, "", "{}"});
            row.created = row.next_at = clock.now();
            append.outbox.push_back(std::move(row));
        }
        ASSERT_TRUE(journal.store.commit({&append, 1})[0]);
        pump.wake();
        loop.run();
    }
    [[nodiscard]] port::OutboxRow row(std::uint32_t n, Seq seq = 1) {
        auto const found = journal.store.outbox_message({session, seq, n});
        EXPECT_TRUE(found && *found);
        return found && *found ? **found : port::OutboxRow{};
    }

    SessionId const session = SessionId::make(7, {1});
    Seq head = 0;
    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    TestJournal journal{loop};
    HeldHttp http;
    NoProcesses processes;
    Pump pump;
};

TEST_F(PumpTest, Delivery_Answered2xx_IsDelivered) {
    add_message({receiver(0)});
    ASSERT_EQ(http.open.size(), 1U);
    EXPECT_EQ(http.open[0].first.url, receiver(0));
    http.answer(204);
    loop.run();
    EXPECT_EQ(row(0).state, OutboxState::delivered);
    EXPECT_EQ(row(0).last_status, 204);
    EXPECT_EQ(pump.busy(), 0U);
}

TEST_F(PumpTest, FailingReceivers_MoreThanTheirShare_AllAreRetried) {
    std::size_t const receivers = Pump::at_once_failing * 2;
    std::vector<std::string> targets;
    for (std::size_t n = 0; n < receivers; ++n) targets.push_back(receiver(n));
    add_message(targets);
    pump.start();
    loop.run();
    ASSERT_EQ(http.open.size(), receivers);
    http.answer(500);
    loop.run();
    // Each receiver has failed once, so the second attempts share the places of failing receivers.
    for (int round = 0; round < 8 && http.started < 2 * receivers; ++round) {
        loop.advance(Duration(6'000));
        EXPECT_LE(http.open.size(), Pump::at_once_failing);
        http.answer(500);
        loop.run();
    }
    EXPECT_EQ(http.started, 2 * receivers) << "places of failing receivers become free";
    http.answer(500);
    loop.run();
    EXPECT_EQ(pump.busy(), 0U);
}

TEST_F(PumpTest, RetryAfter_TooLong_IsCapped) {
    add_message({receiver(0)});
    http.answer(503, {{"Retry-After", std::to_string(365 * 24 * 3'600)}});
    loop.run();
    EXPECT_EQ(row(0).state, OutboxState::pending);
    EXPECT_GT(row(0).next_at, clock.now() + Duration(3'600'000)) << "Retry-After is respected";
    EXPECT_LE(row(0).next_at, clock.now() + Duration(36'000'000)) << "up to ten hours";
}

TEST_F(PumpTest, RetryAfter_ShorterThanTheNextAttempt_ChangesNothing) {
    add_message({receiver(0)});
    http.answer(503, {{"Retry-After", "1"}});
    loop.run();
    EXPECT_GE(row(0).next_at, clock.now() + Duration(5'000));
}

TEST_F(PumpTest, Changes_DuringAnAttempt_ItEndsAndTheNextUsesThem) {
    add_message({receiver(0), receiver(1)});
    ASSERT_EQ(http.open.size(), 2U);
    pump.apply({.hooks = {{receiver(0), "new", {"turn_ended"}}}});
    EXPECT_EQ(pump.busy(), 2U) << "the receiver that is gone has its attempt";
    http.answer(503);
    loop.run();
    EXPECT_EQ(row(1).state, OutboxState::pending);
    loop.advance(Duration(6'000));
    pump.wake();
    loop.run();
    ASSERT_EQ(http.open.size(), 1U);
    EXPECT_EQ(http.open[0].first.url, receiver(0));
    EXPECT_TRUE(std::ranges::any_of(http.open[0].first.headers, [](port::HttpHeader const& one) {
        return one.name == "webhook-signature";
    })) << "with the new secret";
    http.answer(204);
    loop.run();
    EXPECT_EQ(row(0).state, OutboxState::delivered);
    EXPECT_EQ(row(1).state, OutboxState::dead);
    EXPECT_EQ(row(1).last_error, "this address is not in any [[webhook]] now");
}

TEST_F(PumpTest, ReceiverThatWasGone_ConfiguredAgain_GetsItsMessages) {
    add_message({receiver(0)});
    http.answer(410);
    loop.run();
    add_message({receiver(0)});
    EXPECT_EQ(row(0, 2).state, OutboxState::disabled);
    pump.apply({});
    pump.apply({.hooks = {{receiver(0), "", {"turn_ended"}}}});
    add_message({receiver(0)});
    http.answer(204);
    loop.run();
    EXPECT_EQ(row(0, 3).state, OutboxState::delivered);
}

// As POST /api/deliveries/{id}/retry does it.
TEST_F(PumpTest, DisabledWithoutARequest_RetriedByAPerson_IsSent) {
    add_message({receiver(0)});
    http.answer(410);
    loop.run();
    add_message({receiver(0)});
    auto const disabled = row(0, 2);
    ASSERT_EQ(disabled.state, OutboxState::disabled);
    ASSERT_EQ(disabled.last_status, 0);
    ASSERT_TRUE(http.open.empty()) << "no request was made";
    port::OutboxUpdate again;
    again.key = disabled.key;
    again.next_at = clock.now();
    again.last_error = disabled.last_error;
    ASSERT_TRUE(journal.store.update_messages({&again, 1}));
    pump.wake();
    loop.run();
    ASSERT_EQ(http.open.size(), 1U);
    http.answer(204);
    loop.run();
    EXPECT_EQ(row(0, 2).state, OutboxState::delivered);
}

TEST_F(PumpTest, Outcome_StoreFailsOnce_IsSentAgainLater) {
    add_message({receiver(0)});
    journal.failing = true;
    http.answer(200);
    loop.run();
    EXPECT_EQ(row(0).state, OutboxState::pending) << "the store does not have the outcome";
    EXPECT_EQ(pump.busy(), 1U) << "it is not sent again at once";
    journal.failing = false;
    loop.advance(Duration(60'000));
    ASSERT_EQ(http.open.size(), 1U) << "a place is free and the delivery is due";
    http.answer(200);
    loop.run();
    EXPECT_EQ(row(0).state, OutboxState::delivered);
}

TEST_F(PumpTest, FreePlace_DeliveryWaits_StartsWithoutScan) {
    add_message({receiver(0)});
    http.answer(200);
    loop.run();
    // Four requests at a time go to one receiver that answers; the fifth starts when one has ended.
    add_message(std::vector<std::string>(5, receiver(0)));
    ASSERT_EQ(http.open.size(), Pump::at_once_each);
    http.answer(200);
    loop.run();
    EXPECT_EQ(http.open.size(), 1U);
}

}  // namespace
}  // namespace dormouse::webhook
