#include "runner/testing/mail_fixture.h"
#include "store/memory/memory_store.h"

// Mail between sessions of one runner, with crashes in between (requirements E1 to E8).
namespace dormouse::runner::testing {
namespace {

using RunnerMail = RunnerMailOn<TestJournal<store::MemoryStore, store::MemoryDisk>>;

using namespace session;

TEST_F(RunnerMail, MailToAnIdleAgent_StartsATurnWithIt) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    send(alice, {"bob"}, "what time is it?");
    loop.run();
    EXPECT_EQ(deliveries(), "delivered");
    ASSERT_EQ(effects.requests.size(), 1u);
    EXPECT_EQ(effects.requests[0].request.session, bob);
    auto const& messages = effects.requests[0].request.view.messages;
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].source, InputSource::mail);
    std::string const parts(messages[0].parts.text());
    EXPECT_NE(parts.find("what time is it?"), std::string::npos);
    EXPECT_NE(parts.find("alice"), std::string::npos) << "it names the sender";
    EXPECT_EQ(rows(), 0u) << "the append that received it removed the row";
}

TEST_F(RunnerMail, UnknownName_FailsAloneAndAllMeansAllOthers) {
    SessionId const alice = named("alice");
    (void)named("bob");
    (void)named("carol");
    (void)new_session();  // has no alias
    send(alice, {"bob", "ghost"}, "hello");
    loop.run();
    EXPECT_EQ(deliveries(), "delivered failed");
    send(alice, {}, "to all");
    loop.run();
    EXPECT_EQ(deliveries(), "delivered delivered");
    send(alice, {"ghost"}, "hello");
    loop.run();
    EXPECT_EQ(deliveries(), "failed");
    EXPECT_EQ(submitted.back()->id.seq, 0u);
}

TEST_F(RunnerMail, ServiceEnded_LettersOnTheirWay_NobodyIsCalled) {
    SessionId const alice = named("alice");
    send(alice, {"bob"}, "first", "key");
    loop.run();
    submitted.clear();
    runner->release_idle();  // so that the sender is read from the store
    journal.hold_reads = true;
    send(alice, {"bob"}, "second");
    send(alice, {"bob"}, "first", "key");
    loop.run();
    mail_service.reset();
    journal.release_reads();
    loop.advance(Duration(10'000));
    EXPECT_TRUE(submitted.empty());
}

TEST_F(RunnerMail, SessionOfAnotherProject_IsNotFound) {
    SessionId const alice = named("alice");
    ask_for_session(demo("other"), ann());
    loop.run();
    send(alice, {created.back().text()}, "psst");
    loop.run();
    EXPECT_EQ(deliveries(), "failed");
}

TEST_F(RunnerMail, EndedReceiver_Bounces) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    EXPECT_EQ(ask(bob, Move{Move::To::end, ""}), "applied");
    send(alice, {bob.text()}, "are you there?");
    loop.run();
    EXPECT_EQ(deliveries(), "failed");
    auto const sent = history(alice).sent();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent.begin()->second.bounced.size(), 1u);
    EXPECT_EQ(rows(), 0u);
    EXPECT_TRUE(effects.requests.empty()) << "a bounce wakes no session";
}

// P1: accepted mail is durable, and is received once whatever happens on the way.
TEST_F(RunnerMail, CrashAnywhere_MailComesOnceAndInOrder) {
    for (int window = 0; window < 12; ++window) {
        SCOPED_TRACE(window);
        SessionId const alice = named("alice" + std::to_string(window));
        SessionId const bob = named("bob" + std::to_string(window));
        journal.hold = true;
        std::string const name = "bob" + std::to_string(window);
        for (char const* text : {"one", "two", "three"}) {
            send(alice, {name}, text, std::string(text) + std::to_string(window));
            loop.run();
        }
        for (int i = 0; i < window && journal.held() > 0; ++i) journal.release();
        // The process dies; mail that was not committed is lost and sent again with the same key.
        journal.drop_held();
        journal.hold = false;
        restart_all();
        for (char const* text : {"one", "two", "three"}) {
            send(alice, {name}, text, std::string(text) + std::to_string(window));
            loop.advance(Duration(3'000));
        }
        answer_all();
        EXPECT_EQ(inbox(bob), "one two three");
        EXPECT_EQ(rows(), 0u);
        EXPECT_TRUE(stored(bob).inbox.empty()) << "all of it has been read";
    }
}

TEST_F(RunnerMail, AppendOfUnknownEnd_SendsOnce) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    for (Fault const fault : {Fault::lost, Fault::hidden}) {
        journal.fault = fault;
        send(alice, {"bob"}, "hello", "key");
        loop.advance(Duration(3'000));
        EXPECT_FALSE(submitted.back());
    }
    send(alice, {"bob"}, "hello", "key");
    loop.advance(Duration(3'000));
    EXPECT_TRUE(submitted.back());
    EXPECT_EQ(inbox(bob), "hello");
}

TEST_F(RunnerMail, AppendOfUnknownEnd_IsDeliveredBeforeWhatFollows) {
    (void)named("alice");
    SessionId const bob = named("bob");
    SessionId const alice = created.front();
    loop.advance(Duration(1'100));
    journal.fault = Fault::hidden;
    send(alice, {"bob"}, "one");
    loop.run();
    EXPECT_FALSE(submitted.back());
    send(alice, {"bob"}, "two");
    loop.advance(Duration(3'000));
    EXPECT_EQ(inbox(bob), "one two");
}

TEST_F(RunnerMail, ReleasedMail_HasNoRowLeft) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    auto const held_rows = [this] {
        return journal.store->due_messages("held", Time::max(), 100).value().size();
    };
    send(alice, {"bob"}, "0");
    loop.run();
    for (int sent = 1; held_rows() == 0 && !effects.requests.empty() && sent < 1'000; ++sent) {
        bool const is_bob = effects.requests.back().request.session == bob;
        send(is_bob ? bob : alice, {is_bob ? "alice" : "bob"}, std::to_string(sent));
        loop.run();
        if (effects.requests.size() == 2) std::swap(effects.requests[0], effects.requests[1]);
        effects.reply();
        loop.advance(Duration(60'000));
    }
    ASSERT_EQ(held_rows(), 1u);
    State const held = stored(stored(bob).inbox.empty() ? alice : bob);
    EXPECT_EQ(ask(held.id, ReleaseMail{held.inbox.at(0).id}), "applied");
    EXPECT_EQ(held_rows(), 0u);
}

TEST_F(RunnerMail, SessionNamedTwice_GetsOneMail) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    std::vector<MailService::Handed> handed;
    mail_service->hand_in(
        "default", {{"bob", bob.text()}, "hello"}, ann(),
        [&](Result<std::vector<MailService::Handed>> got) { handed = std::move(*got); });
    loop.run();
    EXPECT_EQ(handed.size(), 1u);
    EXPECT_EQ(inbox(bob), "hello");
    send(alice, {bob.text(), "bob"}, "again");
    loop.run();
    EXPECT_EQ(deliveries(), "delivered");
    EXPECT_EQ(inbox(bob), "hello again");
}

TEST_F(RunnerMail, SlowReceiver_IsQueuedAndDeliveredLater) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    journal.hold = true;
    send(alice, {"bob"}, "later");
    loop.run();
    journal.release();  // commits the sender's append; the receiver's is held
    loop.advance(Duration(2'000));
    EXPECT_EQ(deliveries(), "queued");
    journal.hold = false;
    while (journal.held() > 0) journal.release();
    loop.advance(Duration(2'000));
    EXPECT_EQ(inbox(bob), "later");
}

TEST_F(RunnerMail, EndlessMailLoop_IsQuarantined) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    send(alice, {"bob"}, "0");
    loop.run();
    int answers_sent = 0;
    while (!effects.requests.empty() && answers_sent < 1'000) {
        bool const is_bob = effects.requests.back().request.session == bob;
        send(is_bob ? bob : alice, {is_bob ? "alice" : "bob"}, std::to_string(++answers_sent));
        loop.run();
        // The sender's turn ends first; the receiver's request already waits.
        if (effects.requests.size() == 2) std::swap(effects.requests[0], effects.requests[1]);
        effects.reply();
        loop.advance(Duration(60'000));
    }
    EXPECT_EQ(answers_sent, static_cast<int>(limits::mail_hops_max));
    EXPECT_EQ(deliveries(), "quarantined");
    bool const is_bob = !stored(bob).inbox.empty();
    State const held = stored(is_bob ? bob : alice);
    ASSERT_EQ(held.inbox.size(), 1u);
    EXPECT_EQ(held.inbox[0].hold, MailHold::quarantined);
    EXPECT_FALSE(wake_at(held)) << "not stuck";
    // A person releases it.
    EXPECT_EQ(ask(held.id, ReleaseMail{held.inbox[0].id}), "applied");
    EXPECT_EQ(effects.requests.size(), 1u);
}

TEST_F(RunnerMail, MailToMany_DoesNotDelayOthers) {
    SessionId const alice = named("alice");
    std::vector<SessionId> many;
    for (int i = 0; i < 600; ++i) many.push_back(named("n" + std::to_string(i)));
    SessionId const bob = new_session();
    journal.commits.clear();
    send(alice, {}, "to all");
    EXPECT_EQ(ask(bob, prompt("hello")), "applied");
    loop.run();
    EXPECT_EQ(submitted.back()->deliveries.size(), 600u);
    EXPECT_EQ(rows(), 0u);
    for (SessionId const& one : many) EXPECT_EQ(inbox(one), "to all");
    for (std::size_t const appends : journal.commits) EXPECT_LE(appends, 300u);
}

TEST_F(RunnerMail, RaceForAnAlias_OneWins) {
    for (int i = 0; i < 2; ++i) {
        Create create = demo();
        create.alias = "ops";
        ask_for_session(std::move(create), ann());
    }
    loop.run();
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0] + " " + answers[1], "applied alias_taken");
    SessionId const ops = created.back();
    restart_all();
    EXPECT_EQ(named("ops"), SessionId()) << "it survives a restart";
    EXPECT_EQ(ask(ops, Move{Move::To::end, ""}), "applied");
    EXPECT_EQ(stored(ops).alias, "") << "an ended session has none";
    EXPECT_NE(named("ops"), SessionId());
}

TEST_F(RunnerMail, Alias_CanBeChangedAndReleased) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    auto const rename = [this](SessionId session, std::string alias) {
        Change change;
        change.alias = std::move(alias);
        runner->rename(session, std::move(change), ann(),
                       [this](Result<Answer> answer) { answers.push_back(answer_of(answer)); });
        loop.run();
        return answers.back();
    };
    EXPECT_EQ(rename(bob, "alice"), "alias_taken");
    EXPECT_EQ(rename(alice, "alice"), "applied") << "its own";
    EXPECT_EQ(rename(alice, "anna"), "applied");
    EXPECT_EQ(rename(bob, "alice"), "applied");
    EXPECT_EQ(ask(alice, Delete{}), "applied");
    EXPECT_EQ(rename(bob, "anna"), "applied");
}

TEST_F(RunnerMail, RepeatedCreate_FindsItsOwnAlias) {
    for (int i = 0; i < 2; ++i) {
        Create create = demo();
        create.alias = "ops";
        ask_for_session(std::move(create), ann("0123456789abcdef0123456789abcdef"));
        loop.run();
    }
    EXPECT_EQ(answers[0] + " " + answers[1], "applied duplicate");
}

TEST_F(RunnerMail, MailOfAPerson_GoesToEachReceiver) {
    SessionId const alice = named("alice");
    SessionId const bob = named("bob");
    std::vector<MailService::Handed> handed;
    mail_service->hand_in(
        "default", {{"alice", "bob", "ghost"}, "hello"}, ann(),
        [&](Result<std::vector<MailService::Handed>> got) { handed = std::move(*got); });
    loop.run();
    ASSERT_EQ(handed.size(), 3u);
    EXPECT_TRUE(handed[0].answer && handed[1].answer);
    EXPECT_FALSE(handed[2].answer);
    EXPECT_EQ(inbox(alice) + " " + inbox(bob), "hello hello");
    EXPECT_EQ(effects.requests.size(), 2u);
}

}  // namespace
}  // namespace dormouse::runner::testing
