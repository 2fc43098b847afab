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
                for (auto const& key : keys) journal.disk->outbox.at(key).next_at = until;
                loop.post([keys, use = std::move(use)]() mutable { use(std::move(keys)); });
            },
            [this](std::vector<port::OutboxClaim> const& claims, Time until,
                   port::Fn<void(Result<std::vector<port::OutboxKey>>)> use) {
                std::vector<port::OutboxKey> keys;
                for (auto const& one : claims) {
                    port::OutboxRow& row = journal.disk->outbox.at(one.key);
                    row.next_at = until;
                    keys.push_back(one.key);
                }
                loop.post([keys, use = std::move(use)]() mutable { use(std::move(keys)); });
            },
            [this](std::string const& target, Time since, port::Fn<void(Result<bool>)> use) {
                EXPECT_EQ(target, shared_receiver);
                asked_since.push_back(since);
                loop.post([this, use = std::move(use)]() mutable { use(delivered_elsewhere); });
            },
            "a"};
        out.external_agent = [this](port::OutboxRow const& row, std::string const& /*body*/,
                                    Pump::Options::Done done) {
            programs.push_back(row.target);
            done({});
        };
        return out;
    }
    void add_message(std::uint64_t number, std::string target = shared_receiver,
                     Letter::Kind kind = Letter::Kind::event) {
        port::OutboxRow row;
        row.target = std::move(target);
        row.body = write_letter({kind, std::nullopt, "", "{}", {}, "00000001"});
        journal.append(SessionId::make(number, {1}), 1, std::move(row), clock.now());
        pump.wake();
        loop.run();
    }

    [[nodiscard]] port::OutboxRow row(std::uint64_t number) {
        for (auto const& [key, row] : journal.disk->outbox)
            if (key.from.number() == number) return row;
        return {};
    }
    // Time passes, in which it scans.
    void pass(Duration time) {
        loop.advance(time);
        pump.wake();
        loop.run();
    }
    void answer(std::uint16_t status) {
        http.answer(status);
        loop.run();
    }

    std::uint64_t share = 1;  // this process has the odd numbers
    Result<bool> delivered_elsewhere = false;
    std::vector<Time> asked_since;
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
    add_message(7);
    EXPECT_EQ(queried, 1U);
    EXPECT_EQ(http.open.size(), 1U);
    pump.wake();
    loop.run();
    EXPECT_EQ(queried, 1U) << "it is on its way";
}

TEST_F(PumpShared, MessageToAnExternalAgent_IsSentByItsNodeAlone) {
    add_message(7, "agent:coder@b", Letter::Kind::external_agent);
    EXPECT_EQ(queried, 0U);
    add_message(8, "agent:coder@a", Letter::Kind::external_agent);
    EXPECT_EQ(programs, std::vector<std::string>{"agent:coder@a"});
    EXPECT_EQ(queried, 1U);
}

TEST_F(PumpShared, MessageOfAnotherShare_IsSentOnceItIsOverdue) {
    add_message(8);
    EXPECT_EQ(queried, 0U);
    loop.advance(Pump::overdue_after);
    pump.wake();
    loop.run();
    EXPECT_EQ(http.open.size(), 1U);
}

// The store fell back during the attempt, and the new history sends something else under its key.
TEST_F(PumpShared, OtherMessageOfTheSameKey_IsSent_UnderAnotherId) {
    add_message(7);
    ASSERT_EQ(http.open.size(), 1U);
    auto const id_of = [&] {
        auto const& headers = http.open.front().first.headers;
        return std::ranges::find(headers, "webhook-id", &port::HttpHeader::name)->value;
    };
    std::string const first = id_of();
    port::OutboxRow& row = journal.disk->outbox.begin()->second;
    row.body = write_letter({Letter::Kind::event, std::nullopt, "", "{}", {}, "0a1b2c3d"});
    row.next_at = clock.now();
    http.answer(200);
    loop.run();
    EXPECT_EQ(journal.disk->outbox.begin()->second.state, OutboxState::pending);
    pump.wake();
    loop.run();
    ASSERT_EQ(http.open.size(), 1U);
    EXPECT_NE(id_of(), first);
    http.answer(200);
    loop.run();
    EXPECT_EQ(journal.disk->outbox.begin()->second.state, OutboxState::delivered);
}

TEST_F(PumpShared, MessageThatAnotherHasTaken_IsNotSent) {
    taken_by_another = true;
    add_message(7);
    EXPECT_EQ(queried, 1U);
    EXPECT_TRUE(http.open.empty());
    taken_by_another = false;
    pump.wake();
    loop.run();
    EXPECT_EQ(http.open.size(), 1U) << "the next scan asks again";
}

// The configuration was changed on another process, which made the message.
TEST_F(PumpShared, UnknownReceiver_IsLeftToOthersUntilItIsKnown) {
    std::string const added = "https://hook.example.net/2";
    add_message(7, added);
    pass(Pump::overdue_after);
    EXPECT_EQ(queried, 0U) << "another process may know it";
    EXPECT_EQ(row(7).state, OutboxState::pending);
    Pump::Changes changes;
    changes.hooks.push_back({added, "", {"turn_ended"}});
    pump.apply(changes);
    pass(Duration(0));
    ASSERT_EQ(http.open.size(), 1U);
    answer(200);
    EXPECT_EQ(row(7).state, OutboxState::delivered);
    EXPECT_EQ(row(7).attempts, 1U);
}

TEST_F(PumpShared, UnknownReceiver_AfterAllAttempts_IsGivenUp) {
    add_message(7, "https://hook.example.net/2");
    for (std::uint32_t attempts = 1; attempts < attempts_after.size(); ++attempts) {
        pass(Pump::unknown_after);
        ASSERT_EQ(row(7).attempts, attempts);
        ASSERT_EQ(row(7).state, OutboxState::pending);
        EXPECT_EQ(row(7).last_error, "this address is not in any [[webhook]] now");
        pass(*next_attempt(attempts, 255));
    }
    pass(Pump::unknown_after);
    EXPECT_EQ(row(7).state, OutboxState::dead);
    EXPECT_TRUE(http.open.empty());
}

// webhook_hosts was changed on another process.
TEST_F(PumpShared, AddressRefusedHere_IsLeftToOthersAndTriedAgain) {
    std::string const local = "http://10.0.0.7/done";
    Pump::Changes changes;
    changes.hooks.push_back({local, "", {"turn_ended"}});
    pump.apply(changes);
    add_message(7, local);
    pass(Pump::overdue_after);
    EXPECT_EQ(queried, 0U);
    pass(Pump::unknown_after);
    EXPECT_EQ(row(7).state, OutboxState::pending);
    EXPECT_EQ(row(7).attempts, 1U);
}

TEST_F(PumpShared, ReceiverThatAnswered410_StaysDisabled) {
    add_message(7);
    answer(410);
    ASSERT_EQ(row(7).state, OutboxState::disabled);
    Time const since = clock.now();
    pass(Duration(5'000));
    add_message(9);
    EXPECT_TRUE(http.open.empty());
    EXPECT_EQ(row(9).state, OutboxState::disabled);
    EXPECT_EQ(row(9).attempts, 0U);
    pass(2 * Pump::delivered_late);
    add_message(11);
    Time const read_last = clock.now();
    add_message(13);
    EXPECT_EQ(asked_since,
              (std::vector{since, since, std::max(since, read_last - Pump::delivered_late)}));
}

TEST_F(PumpShared, DeliveryByAnotherAfter410_EnablesTheReceiver) {
    add_message(7);
    answer(410);
    delivered_elsewhere = true;
    add_message(9);
    ASSERT_EQ(http.open.size(), 1U);
    answer(200);
    EXPECT_EQ(row(9).state, OutboxState::delivered);
    delivered_elsewhere = false;
    add_message(11);
    EXPECT_EQ(http.open.size(), 1U) << "it has forgotten the 410";
}

TEST_F(PumpShared, StoreThatDoesNotAnswerAfter410_DropsNothing) {
    add_message(7);
    answer(410);
    delivered_elsewhere = fail(Code::store_unavailable, "planted");
    add_message(9);
    EXPECT_EQ(row(9).state, OutboxState::pending);
    delivered_elsewhere = true;
    pass(*next_attempt(1, 255));
    answer(200);
    EXPECT_EQ(row(9).state, OutboxState::delivered);
}

// Two processes with one store, whose mail takes `mail_takes` each.
class TwoPumps : public testing::Test {
protected:
    struct Waiting {
        std::function<bool()> wanted;
        Pump::Options::Done done;
    };

    TwoPumps() {
        a.start();
        b.start();
    }

    Pump::Options options() {
        Pump::Options out;
        out.outgoing.notices.push_back({.kind = NotifyKind::email, .target = "notify:ANN"});
        out.outgoing.hooks.push_back({shared_receiver, "", {"turn_ended"}});
        out.sharing = Pump::Options::Sharing{
            .has_share = [](std::uint64_t) { return true; },
            .claim = [this](auto const& keys, Time until, auto use) { claim(keys, until, use); },
            .renew = [this](auto const& claims, Time until,
                            auto use) { renew(claims, until, use); },
            .delivered_since = [](auto const&, Time, auto use) { use(false); },
            .node = "a"};
        out.mail = [this](Notice const&, Notification const&, std::string const&,
                          std::function<bool()> wanted, Pump::Options::Done done) {
            waiting.push_back({std::move(wanted), std::move(done)});
        };
        return out;
    }
    using Keys = std::vector<port::OutboxKey>;
    void claim(Keys const& keys, Time until, port::Fn<void(Keys)>& use) {
        Keys taken;
        for (auto const& key : keys) {
            port::OutboxRow& row = journal.disk->outbox.at(key);
            if (row.state != OutboxState::pending || row.next_at > clock.now()) continue;
            row.next_at = until;
            taken.push_back(key);
        }
        loop.post([taken, use = std::move(use)]() mutable { use(std::move(taken)); });
    }
    void renew(std::vector<port::OutboxClaim> const& claims, Time until,
               port::Fn<void(Result<Keys>)>& use) {
        Result<Keys> kept = Keys();
        if (unreachable) kept = fail(Code::store_unavailable, "planted");
        for (auto const& one : claims) {
            if (!kept) break;
            port::OutboxRow& row = journal.disk->outbox.at(one.key);
            if (port::OutboxAttempt{row.attempts, row.next_at} != one.attempt) continue;
            row.next_at = until;
            kept->push_back(one.key);
        }
        loop.post([kept, use = std::move(use)]() mutable { use(std::move(kept)); });
    }
    void add_message(std::string target, Letter::Kind kind) {
        port::OutboxRow row;
        row.target = std::move(target);
        Notification it{
            .event = "gate_asked", .reason = "approval", .pending = "pnd_1", .session = "ses_1"};
        row.body = write_letter({kind, std::nullopt, "", write_notification(it), {}, "00000001"});
        journal.append(SessionId::make(7, {1}), 1, std::move(row), clock.now());
        loop.advance(Duration(1'000));
    }
    [[nodiscard]] port::OutboxRow& row() { return journal.disk->outbox.begin()->second; }
    // The mail's turn comes: whether it is sent.
    bool mail() {
        Waiting next = std::move(waiting.front());
        waiting.erase(waiting.begin());
        bool const sent = next.wanted();
        next.done(sent ? Result<void>() : fail(Code::conflict, "not wanted"));
        loop.advance(Duration(1'000));
        return sent;
    }

    bool unreachable = false;
    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    TestJournal journal{loop};
    HeldHttp http, other_http;
    NoProcesses processes;
    std::vector<Waiting> waiting;
    Pump a{{loop, clock, entropy, journal, http, processes}, options()};
    Pump b{{loop, clock, entropy, journal, other_http, processes}, options()};
};

TEST_F(TwoPumps, MailThatWaitsLong_IsSentOnce) {
    add_message("notify:ANN", Letter::Kind::notice);
    ASSERT_EQ(waiting.size(), 1U);
    loop.advance(Duration(25'000));
    ASSERT_EQ(waiting.size(), 1U) << "the claim is renewed";
    EXPECT_TRUE(mail());
    EXPECT_EQ(row().state, OutboxState::delivered);
    loop.advance(Duration(60'000));
    EXPECT_TRUE(waiting.empty());
}

// The store could not be reached from the process that has the mail.
TEST_F(TwoPumps, MailWhoseClaimHasEnded_IsSentByTheOtherAlone) {
    add_message("notify:ANN", Letter::Kind::notice);
    unreachable = true;
    loop.advance(Duration(25'000));
    ASSERT_EQ(waiting.size(), 2U);
    unreachable = false;
    EXPECT_FALSE(mail());
    EXPECT_TRUE(mail());
    EXPECT_EQ(row().state, OutboxState::delivered);
    EXPECT_EQ(row().attempts, 1U);
    loop.advance(Duration(60'000));
    EXPECT_TRUE(waiting.empty());
}

TEST_F(TwoPumps, LateOutcome_DoesNotReplaceThatOfTheOther) {
    add_message(shared_receiver, Letter::Kind::event);
    ASSERT_EQ(http.open.size() + other_http.open.size(), 1U);
    HeldHttp& first = http.open.empty() ? other_http : http;
    HeldHttp& second = http.open.empty() ? http : other_http;
    row().next_at = clock.now();
    loop.advance(Duration(2'000));
    ASSERT_EQ(second.open.size(), 1U);
    second.answer(200);
    loop.run();
    first.answer(503);
    loop.advance(Duration(1'000));
    EXPECT_EQ(row().state, OutboxState::delivered);
    EXPECT_EQ(row().attempts, 1U);
}

TEST_F(TwoPumps, RetryByAPerson_IsNotUndoneByAnAttempt) {
    add_message(shared_receiver, Letter::Kind::event);
    HeldHttp& first = http.open.empty() ? other_http : http;
    port::OutboxUpdate retry{.key = row().key, .next_at = clock.now() + Duration(500)};
    ASSERT_TRUE(journal.store.update_messages({&retry, 1}));
    first.answer(410);
    loop.run();
    EXPECT_EQ(row().state, OutboxState::pending);
    EXPECT_EQ(row().attempts, 0U);
    loop.advance(Duration(2'000));
    EXPECT_EQ(row().next_at > clock.now() || row().state != OutboxState::pending, true)
        << "it is sent again";
}

}  // namespace
}  // namespace dormouse::webhook
