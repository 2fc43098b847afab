#include "runner/testing/mail_fixture.h"
#include "session/limits.h"
#include "store/memory/memory_store.h"

#include <algorithm>

// Mail is received or bounces, never both, even if the result of an append is unknown: what that
// append wrote counts, and the next attempt changes nothing.
namespace dormouse::runner::testing {
namespace {

using RunnerMail = RunnerMailOn<TestJournal<store::MemoryStore, store::MemoryDisk>>;

using namespace session;

class MailOnce : public RunnerMail {
protected:
    MailOnce() : alice(named("alice")), bob(named("bob")) { loop.advance(Duration(1'100)); }

    // Sends to bob and stops while the append that receives the mail or sends it back is in
    // progress.
    void send_and_hold(std::string text) {
        journal.hold = true;
        send(alice, {bob.text()}, std::move(text));
        loop.run();
        ASSERT_EQ(journal.held(), 1u) << "the append that sends";
        journal.release();
        ASSERT_EQ(journal.held(), 1u) << "the append that receives it";
    }
    // Ends that append with `fault`; later ones succeed.
    void end(Fault fault) {
        journal.fault = fault;
        journal.release();
        journal.hold = false;
        ASSERT_EQ(journal.held(), 0u);
    }
    // Fills bob's inbox. Bob reads nothing while a turn runs.
    void fill_inbox() {
        EXPECT_EQ(ask(bob, prompt("work")), "applied");
        for (std::size_t i = 0; i < limits::inbox_max; ++i) {
            TakeMail more;
            more.mail.project = "default";
            more.mail.text = "more";
            runner->command(bob, std::move(more), ann(), [](Result<Answer> const&) {});
        }
        loop.run();
        EXPECT_EQ(stored(bob).inbox.size(), limits::inbox_max);
    }
    [[nodiscard]] std::string bounces() {
        std::string out;
        auto const sent = history(alice).sent();
        for (auto const& [seq, one] : sent) {
            for (MailBounced const& back : one.bounced)
                out += (out.empty() ? "" : " ") + back.error.code;
        }
        return out;
    }
    [[nodiscard]] std::size_t received(std::string const& text) {
        auto const mails = history(bob).mails();
        return static_cast<std::size_t>(std::ranges::count_if(
            mails, [&](auto const& mail) { return mail.second.what.mail->text == text; }));
    }

    SessionId const alice;
    SessionId const bob;
};

TEST_F(MailOnce, ReceivedByAHiddenAppend_ReceiverDeleted_DoesNotComeBack) {
    send_and_hold("hello");
    end(Fault::hidden);
    EXPECT_EQ(received("hello"), 1u);
    EXPECT_EQ(ask(bob, Delete{}), "applied");
    loop.advance(Duration(3'000));
    EXPECT_EQ(bounces(), "");
    EXPECT_EQ(deliveries(), "delivered");
    EXPECT_EQ(rows(), 0u);
}

TEST_F(MailOnce, ReceivedByAHiddenAppend_ReceiverEnded_DoesNotComeBack) {
    send_and_hold("hello");
    end(Fault::hidden);
    EXPECT_EQ(ask(bob, Move{Move::To::end, ""}), "applied");
    loop.advance(Duration(3'000));
    EXPECT_EQ(bounces(), "");
    EXPECT_EQ(received("hello"), 1u);
    EXPECT_EQ(rows(), 0u);
}

TEST_F(MailOnce, LostAppend_ReceiverDeleted_ComesBack) {
    send_and_hold("hello");
    end(Fault::lost);
    EXPECT_EQ(received("hello"), 0u);
    EXPECT_EQ(ask(bob, Delete{}), "applied");
    loop.advance(Duration(3'000));
    EXPECT_EQ(bounces(), "not_found");
    EXPECT_EQ(rows(), 0u);
}

// At the next attempt the receiver would accept it.
TEST_F(MailOnce, SentBackByAHiddenAppend_InboxHasSpaceAgain_IsNotReceived) {
    fill_inbox();
    send_and_hold("hello");
    end(Fault::hidden);
    EXPECT_EQ(bounces(), "inbox_full");
    answer_all();
    EXPECT_EQ(stored(bob).inbox.size(), 0u);
    loop.advance(Duration(3'000));
    EXPECT_EQ(received("hello"), 0u);
    EXPECT_EQ(bounces(), "inbox_full");
    EXPECT_EQ(rows(), 0u);
}

TEST_F(MailOnce, AppendThatSendsBackIsLost_InboxHasSpaceAgain_IsReceived) {
    fill_inbox();
    send_and_hold("hello");
    end(Fault::lost);
    EXPECT_EQ(bounces(), "");
    answer_all();
    loop.advance(Duration(3'000));
    EXPECT_EQ(received("hello"), 1u);
    EXPECT_EQ(bounces(), "");
    EXPECT_EQ(rows(), 0u);
}

// Later mail to the same receiver waits for it and is then delivered.
TEST_F(MailOnce, ReceivedByAHiddenAppend_WhatFollowsIsDelivered) {
    send_and_hold("one");
    end(Fault::hidden);
    send(alice, {"bob"}, "two");
    loop.advance(Duration(3'000));
    EXPECT_EQ(inbox(bob), "one two");
    EXPECT_EQ(bounces(), "");
    EXPECT_EQ(rows(), 0u);
}

// The store's answer to a scan is older than the append that received the mail.
TEST_F(MailOnce, ReceivedAfterTheScanRead_ReceiverDeleted_DoesNotComeBack) {
    send_and_hold("hello");
    journal.hold_reads = true;
    loop.advance(Duration(1'000));  // starts the scan
    end(Fault::none);
    EXPECT_EQ(deliveries(), "delivered");
    runner->command(bob, Delete{}, ann(), [](Result<Answer> const&) {});
    loop.run();
    journal.release_reads();
    loop.advance(Duration(3'000));
    EXPECT_EQ(stored(bob).lifecycle, Lifecycle::deleted);
    EXPECT_EQ(bounces(), "");
    EXPECT_EQ(rows(), 0u);
}

// The store does not say whether the mail is still there: it waits, and is not overtaken.
TEST_F(MailOnce, StoreDoesNotAnswer_MailWaitsForIt) {
    send_and_hold("one");
    end(Fault::lost);
    journal.hold_reads = true;
    send(alice, {"bob"}, "two");
    loop.advance(Duration(5'000));
    journal.release_reads();
    loop.advance(Duration(3'000));
    EXPECT_EQ(inbox(bob), "one two");
    EXPECT_EQ(rows(), 0u);
}

}  // namespace
}  // namespace dormouse::runner::testing
