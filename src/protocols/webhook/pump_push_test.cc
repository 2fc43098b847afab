// Messages to devices, with one thread and virtual time.

#include "webhook/testing/pump_fixture.h"

namespace dormouse::webhook {
namespace {

class PumpPushTest : public testing::Test {
protected:
    PumpPushTest() : pump({loop, clock, entropy, journal, http, processes}, options()) {
        P256Secret secret{};
        secret.back() = 7;
        device.endpoint = "https://push.example.net/1";
        device.key = p256_public(secret).value();
        device.auth = std::string(16, 'a');
        pending = {.session = session, .call = 2, .generation = 1};
    }

    Pump::Options options() {
        P256Secret secret{};
        secret.back() = 5;
        Pump::Options out;
        out.push = {.tokens = std::make_shared<VapidTokens>(
                        push_sender(secret, "mailto:a@example.org").value()),
                    .device =
                        [this](std::string const& id) {
                            return id == "dev_1" && !removed ? std::optional(device) : std::nullopt;
                        },
                    .gone =
                        [this](std::string const& id) {
                            EXPECT_EQ(id, "dev_1");
                            removed = true;
                        }};
        out.waits = [this](PendingId const& pending_id, port::Fn<void(bool)> then) {
            EXPECT_EQ(pending_id, pending);
            then(waits);
        };
        out.withdrawn = [this](port::OutboxRow const&) { ++withdrawn; };
        out.delivered = [this](port::OutboxRow const&) { ++delivered; };
        return out;
    }
    // Stores one row for the device; its number is the size of `rows` before.
    void add_message(std::string const& outcome = "") {
        Notification it{.event = "gate_asked", .reason = "approval", .pending = pending.text()};
        it.outcome = outcome;
        port::OutboxRow row;
        row.target = std::string(push_target) + "dev_1";
        row.body = write_letter({Letter::Kind::notice, pending, {}, write_notification(it)});
        journal.append(session, ++head, std::move(row), clock.now());
        pump.wake();
        loop.run();
    }
    void answer(std::uint16_t status, std::vector<port::HttpHeader> headers = {}) {
        ASSERT_EQ(http.open.size(), 1U);
        http.answer(status, std::move(headers));
        loop.run();
    }
    [[nodiscard]] bool stored(Seq seq) {
        return journal.store.outbox_message({session, seq, 0}).value().has_value();
    }
    [[nodiscard]] port::OutboxRow row(Seq seq) {
        return journal.store.outbox_message({session, seq, 0}).value().value_or(port::OutboxRow{});
    }
    [[nodiscard]] std::size_t noted() {
        std::string const target = std::string(push_target) + "dev_1";
        return journal.store.sent(session, pending.call, pending.generation, target).value().size();
    }

    SessionId const session = SessionId::make(7, {1});
    Seq head = 0;
    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    TestJournal journal{loop};
    HeldHttp http;
    NoProcesses processes;
    PushDevice device;
    PendingId pending;
    bool removed = false;
    bool waits = true;
    int withdrawn = 0;
    int delivered = 0;
    Pump pump;
};

TEST_F(PumpPushTest, Question_Taken_IsReplacedByItsOutcome) {
    add_message();
    ASSERT_EQ(http.open.size(), 1U);
    EXPECT_EQ(http.open[0].first.url, device.endpoint);
    EXPECT_TRUE(http.open[0].first.public_only);
    answer(201);
    EXPECT_EQ(row(1).state, OutboxState::delivered);
    EXPECT_EQ(noted(), 1U);
    waits = false;
    add_message("Approved by bob");
    answer(201);
    EXPECT_EQ(row(2).state, OutboxState::delivered);
    EXPECT_EQ(noted(), 0U) << "the outcome ends the note";
}

TEST_F(PumpPushTest, Outcome_NothingWasSent_IsWithdrawn) {
    add_message("Approved by bob");
    for (int n = 0; n < 4; ++n) {
        loop.advance(Duration(15'000));
        pump.wake();
        loop.run();
    }
    EXPECT_EQ(http.started, 0U);
    EXPECT_FALSE(stored(1)) << "nothing was delivered";
    EXPECT_EQ(withdrawn, 1);
    EXPECT_EQ(delivered, 0);
}

TEST_F(PumpPushTest, Outcome_Fails_NoteIsKept) {
    add_message();
    answer(201);
    add_message("Approved by bob");
    answer(500);
    EXPECT_EQ(row(2).state, OutboxState::pending);
    EXPECT_EQ(noted(), 1U);
}

TEST_F(PumpPushTest, Question_CallHasEnded_IsWithdrawn) {
    waits = false;
    add_message();
    EXPECT_EQ(http.started, 0U);
    EXPECT_FALSE(stored(1)) << "nothing was delivered";
    EXPECT_EQ(withdrawn, 1);
    EXPECT_EQ(delivered, 0);
}

TEST_F(PumpPushTest, ServiceSaysGone_DeviceIsRemoved) {
    for (std::uint16_t const status : {std::uint16_t{404}, std::uint16_t{410}}) {
        removed = false;
        add_message();
        answer(status);
        EXPECT_TRUE(removed);
        EXPECT_EQ(row(head).state, OutboxState::disabled);
    }
}

TEST_F(PumpPushTest, RemovedDevice_NothingIsSent) {
    removed = true;
    add_message();
    EXPECT_EQ(http.started, 0U);
    EXPECT_EQ(row(1).state, OutboxState::disabled);
    EXPECT_EQ(row(1).last_error, "this device was removed");
}

TEST_F(PumpPushTest, TooManyRequests_RetryAfterIsRespected) {
    add_message();
    answer(429, {{"Retry-After", "120"}});
    EXPECT_EQ(row(1).state, OutboxState::pending);
    EXPECT_EQ(row(1).last_status, 429);
    EXPECT_GE(row(1).next_at, clock.now() + Duration(120'000));
    EXPECT_FALSE(removed);
}

TEST_F(PumpPushTest, PayloadTooLarge_IsGivenUpAndReported) {
    add_message();
    answer(413);
    EXPECT_EQ(row(1).state, OutboxState::dead);
    EXPECT_EQ(row(1).last_error, "the service answered 413: the message is too large");
}

TEST_F(PumpPushTest, PrivateAddress_IsRefused) {
    device.endpoint = "https://10.0.0.1/push";
    add_message();
    EXPECT_EQ(http.started, 0U);
    EXPECT_EQ(row(1).state, OutboxState::dead);
}

}  // namespace
}  // namespace dormouse::webhook
