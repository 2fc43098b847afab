#include "session/limits.h"
#include "session/testing/given.h"

#include <gtest/gtest.h>

// Mail: requirements E1 to E8, as far as one session decides them.
namespace dormouse::session {
namespace {

using namespace testing;

SessionId other(std::uint8_t number) {
    SessionId id;
    id.bytes[15] = number;
    return id;
}

class MailTest : public ::testing::Test {
protected:
    MailTest() { (void)given.create(); }

    Mail mail(std::string const& text, std::uint8_t from = 9, MailId conversation = {}) {
        Mail out;
        out.id = {other(from), ++sent_};
        out.project = "default";
        out.from = other(from);
        out.from_alias = "ann";
        out.to_alias = "bob";
        out.text = text;
        out.conversation = conversation.seq != 0 ? conversation : out.id;
        out.by = given.by;
        return out;
    }
    Decision receive(Mail const& mail) {
        return given.when(Deliver{{*mail.from, mail.id.seq, 0}, mail});
    }
    Decision receive(std::string const& text) { return receive(mail(text)); }
    // A turn that replies and ends.
    void idle_after_a_turn() {
        (void)given.prompt("hello");
        (void)given.reply();
        ASSERT_EQ(given.what_class(), "idle");
    }
    void TearDown() override { EXPECT_EQ(given.broken(), ""); }

    Given given;
    std::uint64_t sent_ = 0;
};

TEST_F(MailTest, Trace_OfTheMail_IsThatOfTheTurnItBegins) {
    idle_after_a_turn();
    Mail sent = mail("hello");
    sent.trace = {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1"};
    (void)receive(sent);
    EXPECT_EQ(given.turn().trace, sent.trace);
    (void)given.reply();
    (void)receive("another");
    EXPECT_EQ(given.turn().trace, TraceHeaders{});
}

TEST_F(MailTest, E1_IdleReceiver_WakesWithTheMail) {
    idle_after_a_turn();
    Decision const decision = receive("what is the answer?");
    EXPECT_EQ(answer_of(decision), "applied");
    EXPECT_EQ(types(decision), "mail_received turn_started model_requested");
    EXPECT_EQ(given.turn().cause, InputSource::mail);
    EXPECT_EQ(given.turn().by, (Actor{ActorType::session, other(9).text()}));
    EXPECT_TRUE(decision.took) << "a repeat is known";
    (void)given.reply();
    EXPECT_EQ(given.what_class(), "idle");
    EXPECT_TRUE(given.state.inbox.empty());
    EXPECT_EQ(given.state.mails, 1u);
}

TEST_F(MailTest, E2_ActiveReceiver_SeesItInItsNextRequest) {
    (void)given.prompt("work");
    Seq const first_view = given.turn().request->view_seq;
    Decision const decision = receive("by the way");
    EXPECT_EQ(types(decision), "mail_received") << "the request continues";
    EXPECT_EQ(given.state.inbox.size(), 1u);
    // The reply asks for nothing, yet the turn continues: the mail is unread.
    EXPECT_EQ(types(given.reply()), "model_replied model_requested");
    EXPECT_GT(given.turn().request->view_seq, first_view);
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
    EXPECT_TRUE(given.state.inbox.empty());
}

TEST_F(MailTest, E3_DeletedReceiver_BouncesWithoutWaking) {
    idle_after_a_turn();
    Decision const sent = given.when(SendMail{{{other(4), "ghost"}}, "anybody there?"});
    EXPECT_EQ(types(sent), "mail_sent");
    ASSERT_EQ(sent.outbox.size(), 1u);
    EXPECT_EQ(sent.outbox[0].to, other(4));
    Mail const& gone = std::get<Mail>(sent.outbox[0].what);
    EXPECT_EQ(gone.id, (MailId{given.id, sent.events[0].seq}));
    Trouble const why{"not_found", "This id was not found."};
    Decision const bounced =
        given.when(Undelivered{{given.id, gone.id.seq, 0}, other(4), gone, why});
    EXPECT_EQ(types(bounced), "mail_bounced");
    EXPECT_EQ(first<MailBounced>(bounced).to, (MailTarget{other(4), "ghost"}));
    EXPECT_EQ(given.what_class(), "idle");
    Decision const again = given.when(Undelivered{{given.id, gone.id.seq, 0}, other(4), gone, why});
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(types(again), "");
}

TEST_F(MailTest, E3_EndedSessionOrOtherProject_Refuses) {
    Mail foreign = mail("psst");
    foreign.project = "other";
    EXPECT_EQ(answer_of(receive(foreign)), "not_found") << "as if it were not there";
    (void)given.move(Move::To::end);
    EXPECT_EQ(answer_of(receive("too late")), "wrong_state");
    EXPECT_EQ(answer_of(given.when(SendMail{{{other(4), ""}}, "from the grave"})), "wrong_state");
}

TEST_F(MailTest, E4_SeveralToAnIdleSession_ComeInOrderInOneTurn) {
    (void)given.prompt("work");
    for (char const* text : {"one", "two", "three"}) (void)receive(text);
    EXPECT_EQ(given.state.inbox.size(), 3u);
    EXPECT_EQ(given.state.inbox[0].number, 1u);
    EXPECT_EQ(given.state.inbox[2].number, 3u);
    EXPECT_EQ(types(given.reply()), "model_replied model_requested") << "one request for all";
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
    EXPECT_TRUE(given.state.inbox.empty());
}

// The mail is decided either before or after the reply that ends the turn.
TEST_F(MailTest, E5_MailAsTheReceiverGoesIdle_WakesIt) {
    (void)given.prompt("ask bob");
    Given before = given;
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
    EXPECT_EQ(types(receive("the answer")), "mail_received turn_started model_requested");
    given = before;
    EXPECT_EQ(types(receive("the answer")), "mail_received");
    EXPECT_EQ(types(given.reply()), "model_replied model_requested");
}

TEST_F(MailTest, E6_ConversationOverItsHops_IsQuarantined) {
    Mail late = mail("and you?");
    late.hops = limits::mail_hops_max;
    Decision const decision = receive(late);
    EXPECT_EQ(types(decision), "mail_received");
    EXPECT_EQ(first<MailReceived>(decision).hold, MailHold::quarantined);
    EXPECT_TRUE(decision.answer->quarantined);
    EXPECT_EQ(given.what_class(), "idle") << "quarantined, not stuck: nothing is outstanding";
    EXPECT_FALSE(wake_at(given.state));
    // A person releases it.
    Decision const released = given.when(ReleaseMail{late.id});
    EXPECT_EQ(types(released), "mail_released turn_started model_requested");
    EXPECT_EQ(answer_of(given.when(ReleaseMail{late.id})), "duplicate");
}

TEST_F(MailTest, E6_MailSentByAWokenTurn_IsOneHopFurther) {
    Mail question = mail("question");
    question.hops = 3;
    (void)receive(question);
    Decision const sent = given.when(SendMail{{{other(9), "ann"}}, "answer"});
    Mail const& answer = std::get<Mail>(sent.outbox.at(0).what);
    EXPECT_EQ(answer.hops, 4u);
    EXPECT_EQ(answer.conversation, question.conversation);
    (void)given.reply();
    Decision const rebuilt = given.when(SendMail{{{other(9), "ann"}}, "something else"});
    EXPECT_EQ(std::get<Mail>(rebuilt.outbox.at(0).what).hops, 0u);
}

TEST_F(MailTest, E6_OverTheBudgetOfAMinute_WaitsForTheNext) {
    MailId const conversation = mail("the first").id;
    for (std::uint32_t i = 0; i < limits::mail_wakes_per_minute; ++i) {
        EXPECT_EQ(types(receive(mail("again", 9, conversation))),
                  "mail_received turn_started model_requested");
        (void)given.reply();
    }
    Decision const over = receive(mail("again", 9, conversation));
    EXPECT_EQ(first<MailReceived>(over).hold, MailHold::minute);
    EXPECT_EQ(given.what_class(), "outstanding");
    ASSERT_TRUE(wake_at(given.state));
    EXPECT_EQ(types(receive("of another conversation")),
              "mail_received turn_started model_requested")
        << "other conversations are not delayed";
    (void)given.reply();
    EXPECT_TRUE(given.state.inbox.empty()) << "that turn has read it too";
    EXPECT_FALSE(wake_at(given.state));
    (void)receive(mail("again", 9, conversation));
    EXPECT_EQ(types(given.later(Duration(59'999))), "");
    EXPECT_EQ(types(given.later(Duration(1))), "mail_released turn_started model_requested");
}

TEST_F(MailTest, E6_WakesOfAConversation_AreLimited) {
    MailId const conversation = mail("the first").id;
    std::uint32_t wakes = 0;
    for (int i = 0; i < 100 && first<MailReceived>(receive(mail("x", 9, conversation))).hold !=
                                   MailHold::quarantined;
         ++i) {
        given.now += Duration(10'000);
        if (given.state.turn) (void)given.reply();
        ++wakes;
    }
    EXPECT_EQ(wakes, limits::mail_wakes_max);
    EXPECT_EQ(given.what_class(), "idle");
}

TEST_F(MailTest, ManyConversations_OnlyTheNewestAreRemembered) {
    idle_after_a_turn();
    Mail const first = mail("0", 9);
    (void)receive(first);
    (void)given.reply();
    for (std::size_t i = 1; i <= limits::conversations_max; ++i) {
        (void)receive(mail(std::to_string(i), 9));
        (void)given.reply();
    }
    EXPECT_EQ(given.state.conversations.size(), limits::conversations_max);
    EXPECT_EQ(conversation_of(given.state, first.id), nullptr);
}

TEST_F(MailTest, E8_WakeNever_IsReadWithTheNextTurn) {
    Mail quiet = mail("for your information");
    quiet.wake = Wake::never;
    EXPECT_EQ(types(receive(quiet)), "mail_received");
    EXPECT_EQ(given.what_class(), "idle");
    (void)given.prompt("anything new?");
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
    EXPECT_TRUE(given.state.inbox.empty());
}

TEST_F(MailTest, E8_WakeAlways_WakesAWaitingSession) {
    (void)given.prompt("deploy");
    (void)given.reply({job()});
    (void)given.pauses(1);
    EXPECT_EQ(types(receive("hello")), "mail_received") << "it still waits";
    Mail now = mail("stop that");
    now.wake = Wake::always;
    EXPECT_EQ(types(receive(now)), "mail_received model_requested");
}

TEST_F(MailTest, PausedSession_ReadsItAfterResume) {
    (void)given.move(Move::To::pause);
    EXPECT_EQ(types(receive("are you there?")), "mail_received");
    EXPECT_EQ(types(given.move(Move::To::resume)), "status_changed turn_started model_requested");
}

TEST_F(MailTest, FailedTurn_HasReadWhatItsRequestShowed) {
    (void)receive("this breaks it");
    (void)given.model_fails(false);
    EXPECT_EQ(given.what_class(), "idle") << "it does not wake again and again";
    EXPECT_TRUE(given.state.inbox.empty());
    EXPECT_EQ(types(given.move(Move::To::retry)), "turn_started model_requested");
}

TEST_F(MailTest, UnreadInACancelledTurn_BeginsTheNextTurn) {
    (void)given.prompt("work");
    (void)receive("by the way");
    EXPECT_EQ(types(given.cancel_turn()), "turn_ended turn_started model_requested");
    EXPECT_EQ(given.turn().cause, InputSource::mail);
}

TEST_F(MailTest, QueuedPrompt_GoesFirstAndItsTurnReadsTheMail) {
    (void)given.prompt("one");
    (void)given.prompt("two", PromptMode::queue);
    (void)receive("three");
    (void)given.reply();
    (void)given.reply();
    EXPECT_EQ(given.turn().cause, InputSource::prompt);
    EXPECT_TRUE(given.state.inbox.empty());
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
}

TEST_F(MailTest, Duplicate_ChangesNothing) {
    Mail const once = mail("once");
    (void)receive(once);
    Decision const again = receive(once);
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(types(again), "");
    EXPECT_EQ(given.state.mails, 1u);
}

TEST_F(MailTest, FullInbox_Refuses) {
    (void)given.move(Move::To::pause);
    for (std::size_t i = 0; i < limits::inbox_max; ++i) {
        Mail one = mail("x");
        one.wake = Wake::never;
        ASSERT_EQ(answer_of(receive(one)), "applied");
    }
    EXPECT_EQ(answer_of(receive("one more")), "inbox_full");
    EXPECT_EQ(given.state.inbox.size(), limits::inbox_max);
}

TEST_F(MailTest, MailOfAPerson_IsSentOnceByItsKey) {
    Mail note;
    note.project = "default";
    note.text = "from a person";
    given.idem_key = "k";
    given.idem_digest = "d";
    Decision const first_time = given.when(TakeMail{note});
    EXPECT_EQ(types(first_time), "mail_received turn_started model_requested");
    MailReceived const received = first<MailReceived>(first_time);
    EXPECT_EQ(received.mail->id, (MailId{given.id, first_time.events[0].seq}));
    EXPECT_EQ(received.mail->by, given.by);
    EXPECT_FALSE(received.mail->from);
    given.idem_key = "k";
    given.idem_digest = "d";
    EXPECT_EQ(answer_of(given.when(TakeMail{note})), "duplicate");
    given.idem_key = "k";
    given.idem_digest = "other";
    EXPECT_EQ(answer_of(given.when(TakeMail{note})), "idempotency_mismatch");
}

TEST_F(MailTest, RepeatedSend_SameKey_SendsOnce) {
    SendMail const send{{{other(4), "bob"}}, "once"};
    given.idem_key = "k";
    given.idem_digest = "d";
    Decision const sent = given.when(send);
    given.idem_key = "k";
    given.idem_digest = "d";
    Decision const again = given.when(send);
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(again.answer->seq, sent.answer->seq);
    EXPECT_TRUE(again.outbox.empty());
}

TEST_F(MailTest, Send_OverALimit_IsRefused) {
    EXPECT_EQ(answer_of(given.when(SendMail{{}, "to nobody"})), "bad_value");
    std::string const large(limits::mail_bytes_max + 1, 'x');
    EXPECT_EQ(answer_of(given.when(SendMail{{{other(4), ""}}, large})), "too_large");
    std::vector<MailTarget> const many(limits::mail_receivers_max, MailTarget{other(4), ""});
    EXPECT_EQ(answer_of(given.when(SendMail{many, std::string(50'000, 'x')})), "too_large");
    EXPECT_EQ(answer_of(given.when(SendMail{many, "hello"})), "applied");
}

TEST_F(MailTest, E8_ProjectPolicy_IsTheDefaultForWake) {
    idle_after_a_turn();
    given.mail.default_wake = Wake::never;
    EXPECT_EQ(types(receive("in the inbox")), "mail_received");
    EXPECT_EQ(given.what_class(), "idle");
    Mail loud = mail("now");
    loud.wake = Wake::always;
    EXPECT_EQ(types(receive(loud)), "mail_received turn_started model_requested")
        << "the sender's word comes first";
    (void)given.reply({job()});
    (void)given.pauses(1);
    given.mail.default_wake = Wake::standard;
    EXPECT_EQ(types(receive("one that waits still waits")), "mail_received");
    given.mail.default_wake = Wake::always;
    EXPECT_EQ(types(receive("and is steered")), "mail_received model_requested");
}

class MailOfAChild : public MailTest {
protected:
    MailOfAChild() {
        given = Given();
        StartRun run{3, 1, "default", "coder", "look", {}, Given::parts("work"), given.by, 1};
        (void)given.when(Deliver{{other(4), 7, 0}, run});
        (void)given.reply();
        given.mail.notifies_parent = true;
    }
};

TEST_F(MailOfAChild, E7_PolicySet_ParentIsNotified) {
    Mail deep = mail("the build is red");
    deep.hops = 3;
    Decision const decision = receive(deep);
    EXPECT_EQ(types(decision), "mail_received mail_sent turn_started model_requested");
    ASSERT_EQ(decision.outbox.size(), 1u);
    EXPECT_EQ(decision.outbox[0].to, other(4));
    Mail const& notice = std::get<Mail>(decision.outbox[0].what);
    EXPECT_EQ(notice.text,
              "Mail to your task " + task_id(other(4), 3) + " from ann: the build is red");
    EXPECT_EQ(notice.from, given.id);
    EXPECT_EQ(notice.conversation, deep.conversation);
    EXPECT_EQ(notice.hops, 4u) << "a circle through parents becomes idle too";
    // A repeat is a duplicate; the parent is notified once.
    Decision const again = receive(deep);
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_TRUE(again.outbox.empty());
}

TEST_F(MailOfAChild, E7_NoPolicyOrQuietOrFamilyMail_ParentIsNotNotified) {
    EXPECT_EQ(types(receive(mail("from the parent", 4))),
              "mail_received turn_started model_requested");
    Mail quiet = mail("quiet");
    quiet.wake = Wake::never;
    EXPECT_EQ(types(receive(quiet)), "mail_received");
    given.mail.notifies_parent = false;
    EXPECT_EQ(types(receive("hello")), "mail_received");
}

TEST_F(MailOfAChild, E7_LongMail_IsCutBetweenCharacters) {
    std::string text = "x";
    while (text.size() < limits::mail_bytes_max - 2) text += "\u00e4";
    Decision const decision = receive(text);
    ASSERT_EQ(decision.outbox.size(), 1u);
    std::string const& notice = std::get<Mail>(decision.outbox[0].what).text;
    EXPECT_LE(notice.size(), limits::mail_bytes_max);
    EXPECT_GT(notice.size(), limits::mail_bytes_max - 3);
    EXPECT_EQ(notice.back(), '\xa4') << "the last one is whole";
}

class MailWithATime : public MailTest {
protected:
    Decision receive_for(Duration ttl, Wake wake = Wake::standard) {
        Mail out = mail("soon");
        out.wake = wake;
        out.expires = given.now + ttl;
        return receive(out);
    }
};

TEST_F(MailWithATime, Unread_AtExpiry_IsDroppedAndTheSenderIsNotified) {
    idle_after_a_turn();
    EXPECT_EQ(types(receive_for(Duration(5'000), Wake::never)), "mail_received");
    EXPECT_EQ(types(given.later(Duration(4'999))), "");
    (void)given.restart();
    Decision const over = given.later(Duration(1));
    EXPECT_EQ(types(over), "mail_expired");
    EXPECT_TRUE(given.state.inbox.empty());
    EXPECT_FALSE(wake_at(given.state));
    ASSERT_EQ(over.outbox.size(), 1u);
    EXPECT_EQ(over.outbox[0].to, other(9));
    EXPECT_EQ(std::get<MailLost>(over.outbox[0].what).mail, (MailId{other(9), 1}));
}

TEST_F(MailWithATime, Expired_SenderGetsOneBounce) {
    idle_after_a_turn();
    SendMail soon{{{other(4), "bob"}}, "soon"};
    soon.ttl = Duration(5'000);
    Decision const sent = given.when(std::move(soon));
    Mail const& gone = std::get<Mail>(sent.outbox.at(0).what);
    EXPECT_EQ(gone.expires, sent.events[0].at + Duration(5'000));
    Deliver const lost{{other(4), 30, 0}, MailLost{gone.id, {other(4), "bob"}}};
    Decision const back = given.when(lost);
    EXPECT_EQ(types(back), "mail_bounced");
    EXPECT_EQ(first<MailBounced>(back).error.code, "expired");
    EXPECT_EQ(answer_of(given.when(lost)), "duplicate");
    EXPECT_EQ(types(given.when(Deliver{{other(4), 31, 0}, MailLost{{other(5), 1}, {}}})), "")
        << "it never sent that mail";
}

TEST_F(MailWithATime, ArrivesAfterExpiry_IsRefused) {
    idle_after_a_turn();
    EXPECT_EQ(answer_of(receive_for(Duration(0))), "expired");
    EXPECT_EQ(given.state.mails, 0u);
}

TEST_F(MailWithATime, SeenByARequest_DoesNotExpire) {
    idle_after_a_turn();
    (void)receive_for(Duration(5'000));
    EXPECT_EQ(types(given.later(Duration(6'000))), "");
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
}

TEST_F(MailWithATime, Expired_WaitingReceiver_IsNotAsked) {
    given.waits_for({job()});
    EXPECT_EQ(types(receive_for(Duration(5'000))), "mail_received");
    EXPECT_EQ(types(given.later(Duration(5'000))), "mail_expired");
    EXPECT_EQ(given.what_class(), "waiting");
    EXPECT_EQ(types(given.submit(given.pending(1), result("live"))), "submitted model_requested");
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
}

TEST_F(MailWithATime, Expired_DuringARequest_IsNotAskedAgain) {
    (void)given.prompt("work");
    EXPECT_EQ(types(receive_for(Duration(5'000), Wake::always)), "mail_received");
    EXPECT_EQ(types(receive_for(Duration(6'000))), "mail_received");
    EXPECT_EQ(types(given.later(Duration(5'000))), "mail_expired");
    Given one_left = given;
    EXPECT_EQ(types(one_left.reply()), "model_replied model_requested");
    EXPECT_EQ(types(given.later(Duration(1'000))), "mail_expired");
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
}

TEST_F(MailWithATime, Expired_AfterItsRelease_IsNotAskedAgain) {
    (void)given.prompt("work");
    Mail far = mail("soon");
    far.hops = limits::mail_hops_max;
    far.expires = given.now + Duration(5'000);
    (void)receive(far);
    EXPECT_EQ(types(given.when(ReleaseMail{far.id})), "mail_released");
    Given unexpired = given;
    EXPECT_EQ(types(unexpired.reply()), "model_replied model_requested");
    EXPECT_EQ(types(given.later(Duration(5'000))), "mail_expired");
    EXPECT_EQ(types(given.reply()), "model_replied turn_ended");
}

TEST_F(MailTest, OtherProject_NeedsTheRightToWrite) {
    idle_after_a_turn();
    Mail foreign = mail("from afar");
    foreign.project = "other";
    EXPECT_EQ(answer_of(receive(foreign)), "not_found");
    given.mail.from_elsewhere = true;
    EXPECT_EQ(types(receive(foreign)), "mail_received turn_started model_requested");
}

TEST_F(MailTest, Restart_KeepsInboxAndQuarantine) {
    Mail held = mail("held");
    held.hops = 99;
    (void)receive(held);
    (void)given.restart();
    EXPECT_EQ(given.what_class(), "idle");
    EXPECT_EQ(types(receive("wakes")), "mail_received turn_started model_requested");
    (void)given.restart();
    (void)given.reply();
    EXPECT_TRUE(given.state.inbox.empty());
}

}  // namespace
}  // namespace dormouse::session
