#include "runner/repair/unreadable.h"
#include "runner/testing/mail_fixture.h"
#include "session/limits.h"
#include "store/memory/memory_store.h"

// Mail is either delivered or bounces to its sender, exactly once, for each way in which delivery
// can fail.
namespace dormouse::runner::testing {
namespace {

using RunnerMail = RunnerMailOn<TestJournal<store::MemoryStore, store::MemoryDisk>>;

using namespace session;

SessionId numbered(std::uint64_t number) {
    return SessionId::make(number, {0, 0, 0, 0, 0, 1, 2, 3});
}

class Bounce : public RunnerMail {
protected:
    Bounce() : alice(named("alice")), bob(named("bob")) {}

    // The error codes of bounces for alice's newest mail.
    [[nodiscard]] std::string bounces() {
        std::string out;
        auto const sent = history(alice).sent();
        if (sent.empty()) return "nothing was sent";
        for (MailBounced const& back : sent.rbegin()->second.bounced)
            out += (out.empty() ? "" : " ") + back.error.code;
        return out;
    }
    // Sends by id, as the tool does after it has resolved the name.
    void send_to_id(SessionId to) {
        EXPECT_EQ(ask(alice, SendMail{{{to, "bob"}}, "hello"}), "applied");
    }
    void expect_settled(std::string const& bounced, std::string const& came) {
        for (int process = 0; process < 3; ++process) {
            EXPECT_EQ(bounces(), bounced) << "process " << process;
            if (stored(bob).lifecycle != Lifecycle::deleted && stored(bob).head > 0) {
                EXPECT_EQ(inbox(bob), came) << "process " << process;
            }
            EXPECT_EQ(rows(), 0u) << "process " << process;
            restart_all();
        }
    }
    [[nodiscard]] store::MemoryDisk::Session& rows_of(SessionId session) {
        return journal.disk->sessions.at(session.number());
    }
    // Makes the session unreadable; returns the undamaged frames.
    auto spoil(SessionId session) {
        auto const whole = rows_of(session).frames;
        auto& bytes = rows_of(session).frames.rbegin()->second.bytes;
        bytes.insert(bytes.size() / 2, R"({"what":"a")");
        rows_of(session).snapshot.reset();
        return whole;
    }

    SessionId const alice;
    SessionId const bob;
};

TEST_F(Bounce, UnknownName_IsRefusedAndNothingIsSent) {
    send(alice, {"nobody"}, "hello");
    loop.run();
    EXPECT_EQ(deliveries(), "failed");
    EXPECT_EQ(bounces(), "nothing was sent");
}

TEST_F(Bounce, UnknownId_ComesBack) {
    send_to_id(numbered(900));
    expect_settled("not_found", "");
}

TEST_F(Bounce, DeletedReceiver_IsRefusedAndNothingIsSent) {
    EXPECT_EQ(ask(bob, Delete{}), "applied");
    send(alice, {"bob", bob.text()}, "hello");
    loop.run();
    EXPECT_EQ(deliveries(), "failed failed");
    EXPECT_EQ(bounces(), "nothing was sent");
}

// The name is resolved before the receiver is deleted.
TEST_F(Bounce, ReceiverDeletedAfterTheLookUp_ComesBack) {
    journal.hold_reads = true;
    send(alice, {"bob"}, "hello");
    loop.run();
    EXPECT_EQ(ask(bob, Delete{}), "applied");
    journal.release_reads();
    EXPECT_EQ(deliveries(), "failed");
    expect_settled("not_found", "");
}

TEST_F(Bounce, ReceiverEndedAfterTheLookUp_ComesBack) {
    journal.hold_reads = true;
    send(alice, {"bob"}, "hello");
    loop.run();
    EXPECT_EQ(ask(bob, Move{Move::To::end, ""}), "applied");
    journal.release_reads();
    EXPECT_EQ(deliveries(), "failed");
    expect_settled("wrong_state", "");
}

// The mail is durable and waits in the receiver's lane behind the append that deletes the session.
TEST_F(Bounce, ReceiverDeletedBetweenAcceptanceAndDelivery_ComesBack) {
    journal.hold = true;
    send(alice, {"bob"}, "hello");
    loop.run();
    ASSERT_EQ(journal.held(), 1u);
    (void)ask(bob, Delete{});
    journal.release();
    journal.hold = false;
    while (journal.held() > 0) journal.release();
    EXPECT_EQ(deliveries(), "failed");
    expect_settled("not_found", "");
}

// The process dies before the mail is delivered, and the next one first deletes the receiver.
TEST_F(Bounce, ReceiverDeletedByTheNextProcess_ComesBack) {
    journal.hold = true;
    send(alice, {"bob"}, "hello");
    loop.run();
    journal.release();
    journal.drop_held();
    journal.hold = false;
    ASSERT_EQ(rows(), 1u) << "accepted and not delivered";
    mail_service.reset();
    restart();
    EXPECT_EQ(ask(bob, Delete{}), "applied");
    begin();
    loop.advance(Duration(1'000));
    expect_settled("not_found", "");
}

TEST_F(Bounce, ReceiverDeletedAfterDelivery_DoesNotComeBack) {
    send(alice, {"bob"}, "hello");
    loop.run();
    EXPECT_EQ(deliveries(), "delivered");
    EXPECT_EQ(ask(bob, Delete{}), "applied");
    expect_settled("", "");
}

// A crash between the refusal and the append that notifies the sender: the mail is refused again.
TEST_F(Bounce, CrashOnTheWayBack_ComesBackOnce) {
    for (std::size_t window = 0; window < 4; ++window) {
        SCOPED_TRACE(window);
        SessionId const gone = named("gone" + std::to_string(window));
        EXPECT_EQ(ask(gone, Move{Move::To::end, ""}), "applied");
        journal.hold = true;
        send(alice, {gone.text()}, "hello");
        loop.run();
        for (std::size_t i = 0; i < window && journal.held() > 0; ++i) journal.release();
        journal.drop_held();
        journal.hold = false;
        restart_all();
        if (window == 0) send(alice, {gone.text()}, "hello");
        loop.advance(Duration(3'000));
        EXPECT_EQ(bounces(), "wrong_state");
        EXPECT_EQ(history(alice).sent().size(), window + 1);
        EXPECT_EQ(rows(), 0u);
    }
}

TEST_F(Bounce, ForeignProject_ComesBackAsUnknown) {
    ask_for_session(demo("other"), ann());
    loop.run();
    send_to_id(created.back());
    EXPECT_EQ(bounces(), "not_found");
    EXPECT_EQ(rows(), 0u);
}

TEST_F(Bounce, FullInbox_ComesBack) {
    EXPECT_EQ(ask(bob, prompt("work")), "applied");
    for (std::size_t i = 0; i < limits::inbox_max; ++i) {
        Mail mail{.id = {numbered(800), i + 1}, .project = "default", .text = "more"};
        ASSERT_EQ(ask(bob, Deliver{{numbered(800), i + 1, 0}, std::move(mail)}), "applied");
    }
    send_to_id(bob);
    EXPECT_EQ(bounces(), "inbox_full");
    EXPECT_EQ(stored(bob).inbox.size(), limits::inbox_max);
    EXPECT_EQ(rows(), 0u);
}

TEST_F(Bounce, TimeToLiveOver_ComesBack) {
    journal.hold = true;
    runner->command(alice, SendMail{{{bob, "bob"}}, "hello", {}, {}, Duration(500)}, ann(),
                    [](Result<Answer> const&) {});
    loop.run();
    journal.release();
    journal.drop_held();
    journal.hold = false;
    loop.advance(Duration(600));
    restart_all();
    expect_settled("expired", "");
}

// Mail is delivered once it is in the session's inbox, whatever the agent does.
TEST_F(Bounce, MissingAgent_DoesNotComeBack) {
    send(alice, {"bob"}, "hello");
    loop.run();
    ASSERT_EQ(effects.requests.size(), 1u);
    auto const& ask = effects.requests[0].request.ask;
    effects.requests[0].done(
        ModelFailure{ask.turn, ask.step, ask.attempt, {"agent_missing", ""}, false, {}});
    loop.run();
    EXPECT_EQ(deliveries(), "delivered");
    expect_settled("", "hello");
}

// An unreadable receiver may be restored: its mail waits for that, or for its deletion.
TEST_F(Bounce, UnreadableReceiver_WaitsUntilItIsRestored) {
    mail_service.reset(), restart();
    auto const whole = spoil(bob);
    begin();
    send(alice, {"bob"}, "hello");
    loop.advance(Duration(3'000));
    EXPECT_EQ(deliveries(), "queued");
    EXPECT_EQ(bounces(), "");
    EXPECT_EQ(rows(), 1u);
    rows_of(bob).frames = whole;
    loop.advance(Duration(60'000));
    expect_settled("", "hello");
}

TEST_F(Bounce, UnreadableReceiverThatIsDeleted_ComesBack) {
    mail_service.reset(), restart();
    (void)spoil(bob);
    begin();
    send(alice, {"bob"}, "hello");
    loop.advance(Duration(3'000));
    EXPECT_EQ(ask(bob, Delete{}), "applied");
    loop.advance(Duration(60'000));
    expect_settled("not_found", "");
}

TEST_F(Bounce, UnreadableSender_SeesItOnceItIsRestored) {
    EXPECT_EQ(ask(bob, Move{Move::To::end, ""}), "applied");
    journal.hold = true;
    send(alice, {bob.text()}, "hello");
    loop.run();
    journal.release();
    journal.drop_held();
    journal.hold = false;
    mail_service.reset(), restart();
    auto const whole = spoil(alice);
    begin();
    loop.advance(Duration(3'000));
    EXPECT_EQ(rows(), 1u);
    rows_of(alice).frames = whole;
    loop.advance(Duration(60'000));
    expect_settled("wrong_state", "");
}

}  // namespace
}  // namespace dormouse::runner::testing
