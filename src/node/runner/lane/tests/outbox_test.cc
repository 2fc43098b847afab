#include "runner/lane/outbox.h"

#include "runner/repair/unreadable.h"
#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/outbox_json.h"

namespace dormouse::runner::testing {
namespace {

using namespace session;

using Journal = TestJournal<store::MemoryStore, store::MemoryDisk>;

SessionId numbered(std::uint64_t number) {
    return SessionId::make(number, {0, 0, 0, 0, 0, 1, 2, 3});
}

class OutboxTest : public RunnerTestOn<Journal> {
protected:
    Deliver first_run(SessionId from, Seq seq = 7) {
        StartRun run;
        run.task = 1;
        run.project = "default";
        run.agent = "demo";
        run.title = "look it up";
        run.parts = session::testing::Given::parts("please");
        return {{from, seq, 0}, run};
    }
    [[nodiscard]] std::vector<port::OutboxRow> waiting() {
        return journal.store->due_messages("session", Time::max(), 100).value();
    }
    // A child of `parent` whose first run has asked its model.
    SessionId child_of(SessionId parent) {
        SessionId const child = numbered(500);
        EXPECT_EQ(ask(child, first_run(parent)), "applied");
        return child;
    }
};

TEST_F(OutboxTest, FirstRun_CreatesTheSessionAndAsksItsModel) {
    SessionId const parent = new_session();
    SessionId const child = child_of(parent);
    State const state = stored(child);
    EXPECT_EQ(state.lifecycle, Lifecycle::active);
    EXPECT_EQ(state.parent, (Parent{parent, 1}));
    EXPECT_EQ(state.title, "look it up");
    ASSERT_TRUE(state.turn);
    EXPECT_EQ(state.turn->cause, InputSource::task);
    EXPECT_EQ(state.turn->run, 1u);
    EXPECT_EQ(effects.requests.size(), 1u);
}

TEST_F(OutboxTest, RepeatedMessage_IsADuplicateAlsoAfterARestart) {
    SessionId const parent = new_session();
    SessionId const child = child_of(parent);
    Seq const head = stored(child).head;
    EXPECT_EQ(ask(child, first_run(parent)), "duplicate");
    restart();
    runner->start();
    loop.run();
    Seq const adopted = stored(child).head;
    EXPECT_EQ(ask(child, first_run(parent)), "duplicate");
    EXPECT_EQ(stored(child).head, adopted);
    EXPECT_LE(head, adopted);
    EXPECT_EQ(stored(child).turns, 1u);
}

TEST_F(OutboxTest, SecondRun_WithoutTheSession_IsNotFound) {
    SessionId const parent = new_session();
    Deliver second = first_run(parent);
    std::get<StartRun>(second.what).run = 2;
    EXPECT_EQ(ask(numbered(600), second), "not_found");
    EXPECT_EQ(stored(numbered(600)).lifecycle, Lifecycle::none);
}

// The parent does not know the task: it refuses the message, and the row is removed.
TEST_F(OutboxTest, UndeliverableMessage_IsRemoved) {
    SessionId const parent = new_session();
    runner->start();
    loop.run();
    (void)child_of(parent);
    effects.reply({});
    loop.run();
    EXPECT_TRUE(waiting().empty());
}

TEST_F(OutboxTest, Message_IsInTheAppendThatEndsTheRun) {
    SessionId const child = child_of(numbered(900));
    journal.hold = true;
    effects.reply({});
    loop.run();
    auto const& sent = journal.sent.back();
    ASSERT_EQ(sent.outbox.size(), 1u);
    EXPECT_EQ(sent.outbox[0].key.from, child);
    EXPECT_EQ(sent.outbox[0].target, numbered(900).text());
    auto const what = wire::read_outbox_body(sent.outbox[0].body);
    ASSERT_TRUE(what);
    auto const& ended = std::get<RunEnded>(*what);
    EXPECT_EQ(ended.run, 1u);
    EXPECT_EQ(ended.finish, FinishReason::stop);
}

// Cannot read single messages.
class SilentStore final : public store::MemoryStore {
public:
    using store::MemoryStore::MemoryStore;
    [[nodiscard]] Result<std::optional<port::OutboxRow>> outbox_message(
        port::OutboxKey const&) override {
        return fail(Code::store_unavailable, "planted");
    }
};

// An outbox alone: the test answers for receivers and senders.
class OutboxAlone : public ::testing::Test {
protected:
    // `alone`: no other process appends.
    explicit OutboxAlone(bool alone = true) : alone_(alone) { outbox.scan(), loop.run(); }

    static port::OutboxRow row_to(Seq seq, std::uint64_t to = 2) {
        port::OutboxRow row;
        row.key = {numbered(1), seq, 0};
        row.kind = "session";
        row.target = numbered(to).text();
        row.body = wire::write_outbox_body(StopRun{static_cast<TaskNo>(seq), 1, false, "enough"});
        return row;
    }
    // Stores messages as an append of their sender does.
    void store(std::vector<port::OutboxRow> rows) {
        port::Append append;
        append.session = numbered(1);
        append.after = stored_ ? 1 : 0;
        append.frame = {append.after + 1, 1, "[]"};
        append.outbox = std::move(rows);
        append.row = port::SessionRow{numbered(1), "p", "a", "", "", "active", {}, {}};
        stored_ = true;
        ASSERT_TRUE(journal.store->commit({&append, 1})[0]);
    }
    void answer(Result<Answer> answer) {
        auto reply = std::move(replies.front());
        replies.erase(replies.begin());
        reply(std::move(answer));
        loop.run();
    }

    bool const alone_;
    TestLoop loop;
    Journal journal{loop};
    std::vector<std::string> sent;     // "<event>-><receiver's number>" or "back <event>"
    std::vector<std::string> reasons;  // in the delivered messages
    std::vector<Lane::Reply> replies;
    // Stores added messages, as the append that sends them does.
    class StoringOutbox : public Outbox {
    public:
        StoringOutbox(Services services, Journal& journal, Send send, Delivered on_delivered)
            : Outbox(services, std::move(send), std::move(on_delivered)), disk_(*journal.disk) {}
        void add(std::vector<port::OutboxRow> rows) {
            for (port::OutboxRow const& message : rows) disk_.outbox.emplace(message.key, message);
            Outbox::add(std::move(rows));
        }

    private:
        store::MemoryDisk& disk_;
    };
    StoringOutbox outbox{
        {loop, journal, alone_},
        journal,
        [this](SessionId to, Command::Body body, Actor const&, Lane::Reply reply) {
            if (auto const* c = std::get_if<Deliver>(&body)) {
                sent.push_back(std::to_string(c->key.seq) + "->" + std::to_string(to.number()));
                reasons.push_back(std::get<StopRun>(c->what).why);
            } else {
                sent.push_back("back " + std::to_string(std::get<Undelivered>(body).key.seq));
            }
            replies.push_back(std::move(reply));
        },
        [this](OutboxKey const& key, Result<Answer> const& answer) {
            delivered.push_back(
                std::to_string(key.seq) +
                (answer ? " taken" : " " + std::string(info(answer.error().code).text)));
        }};
    std::vector<std::string> delivered;

private:
    bool stored_ = false;
};

TEST_F(OutboxAlone, EachPair_OneMessageAtATime) {
    outbox.add({row_to(1), row_to(2), row_to(3, 9)});
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2", "3->9"}));
    answer(Answer{});
    EXPECT_EQ(sent.back(), "2->2");
}

class OutboxOfSeveral : public OutboxAlone {
protected:
    OutboxOfSeveral() : OutboxAlone(false) {}
};

// Another process has made the earlier append: only the store knows of it.
TEST_F(OutboxOfSeveral, EarlierMessageOfTheOther_IsDeliveredFirst) {
    store({row_to(1)});
    outbox.add({row_to(2)});
    loop.run();
    EXPECT_EQ(sent, std::vector<std::string>{"1->2"});
    answer(Answer{});
    loop.run();
    EXPECT_EQ(sent.back(), "2->2");
}

// The store fell back, and another history sends another message under the same key.
class OutboxOfLostHistory : public OutboxOfSeveral {
protected:
    OutboxOfLostHistory() {
        outbox.add({row_to(1)});
        loop.run();
        answer(fail(Code::overloaded, "later"));
    }
    void replace(port::OutboxRow other) {
        other.body = wire::write_outbox_body(StopRun{1, 1, false, "of the new history"});
        journal.disk->outbox.insert_or_assign(other.key, other);
        loop.advance(Duration(1'000));
        outbox.scan();
        loop.run();
    }
};

TEST_F(OutboxOfLostHistory, OtherMessageOfTheSameKey_IsDeliveredInItsPlace) {
    replace(row_to(1));
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2", "1->2"}));
    EXPECT_EQ(reasons.back(), "of the new history");
}

TEST_F(OutboxOfLostHistory, OtherMessageOfTheSameKeyToAnother_IsDeliveredThere) {
    replace(row_to(1, 9));
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2", "1->9"}));
    EXPECT_EQ(reasons.back(), "of the new history");
}

TEST_F(OutboxAlone, TemporaryRefusal_IsRetriedBeforeLaterMessages) {
    outbox.add({row_to(1), row_to(2)});
    answer(fail(Code::overloaded, "later"));
    EXPECT_EQ(sent.size(), 1u);
    loop.advance(Duration(1'000));
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2", "1->2"}));
    answer(Answer{});
    EXPECT_EQ(sent.back(), "2->2");
}

TEST_F(OutboxAlone, UnreadableReceiver_IsRetriedWithBackoff) {
    outbox.add({row_to(1)});
    auto const error = unreadable(numbered(2), {Code::internal, "Event 3 is damaged."});
    answer(std::unexpected(error));
    for (int i = 0; i < 3'600; ++i) {
        loop.advance(Duration(1'000));
        if (!replies.empty()) answer(std::unexpected(error));
    }
    // 1, 2, 4 … 256 s, then every 5 minutes.
    EXPECT_EQ(sent.size(), 20u);
    EXPECT_EQ(outbox.waiting(), 1u);
}

TEST_F(OutboxAlone, UnreadableReceiver_Repaired_IsTriedAtOnce) {
    outbox.add({row_to(1), row_to(2)});
    auto const error = unreadable(numbered(2), {Code::internal, "Event 3 is damaged."});
    for (int i = 0; i < 8; ++i) {
        answer(std::unexpected(error));
        while (replies.empty()) loop.advance(Duration(1'000));
    }
    answer(std::unexpected(error));
    loop.advance(Duration(1'000));
    std::size_t const before = sent.size();
    outbox.retry(numbered(7));
    loop.run();
    EXPECT_EQ(sent.size(), before) << "another session";
    outbox.retry(numbered(2));
    loop.run();
    ASSERT_EQ(sent.size(), before + 1);
    answer(Answer{});
    EXPECT_EQ(sent.back(), "2->2");
    loop.advance(Duration(600'000));
    EXPECT_EQ(sent.size(), before + 2) << "the waiting attempt is dropped";
}

TEST_F(OutboxAlone, PermanentRefusal_GoesBackToTheSender) {
    store({row_to(1)});
    outbox.add({row_to(1)});
    answer(fail(Code::not_found, "gone"));
    EXPECT_EQ(sent.back(), "back 1");
    answer(Answer{.outcome = Answer::Outcome::duplicate});
    EXPECT_FALSE(journal.store->outbox_message({numbered(1), 1, 0}).value());
    EXPECT_EQ(outbox.waiting(), 0u);
}

TEST_F(OutboxAlone, UnreadableSender_IsRetriedWithBackoff) {
    outbox.add({row_to(1)});
    auto const error = unreadable(numbered(1), {Code::internal, "Event 3 is damaged."});
    auto const refuse = [&] {
        answer(fail(Code::inbox_full, "1000 wait"));
        answer(std::unexpected(error));
    };
    refuse();
    loop.advance(Duration(1'000));
    ASSERT_EQ(sent.size(), 3u) << "refused again, then sent back";
    refuse();
    loop.advance(Duration(1'500));
    EXPECT_EQ(sent.size(), 4u);
    loop.advance(Duration(500));
    EXPECT_EQ(sent.size(), 5u);
}

TEST_F(OutboxAlone, FullInbox_GoesBackToTheSenderAtOnce) {
    outbox.add({row_to(1)});
    answer(fail(Code::inbox_full, "1000 wait"));
    EXPECT_EQ(sent.back(), "back 1");
}

// More pairs than may be in progress at a time are answered with "later": the others get their
// turn.
TEST_F(OutboxAlone, ManyReceiversThatRefuse_DoNotHoldUpTheOthers) {
    std::vector<port::OutboxRow> rows;
    for (Seq seq = 1; seq <= 257; ++seq) rows.push_back(row_to(seq, 1'000 + seq));
    outbox.add(std::move(rows));
    ASSERT_EQ(sent.size(), 256u);
    for (int i = 0; i < 256; ++i) answer(fail(Code::overloaded, "later"));
    EXPECT_EQ(sent.back(), "257->1257");
}

TEST_F(OutboxAlone, MissingSender_MessageIsRemoved) {
    store({row_to(1)});
    outbox.add({row_to(1)});
    answer(fail(Code::not_found, "gone"));
    answer(fail(Code::not_found, "gone too"));
    EXPECT_FALSE(journal.store->outbox_message({numbered(1), 1, 0}).value());
}

// An append of unknown end may have sent message 1: message 2, which is known, must wait for it.
TEST_F(OutboxAlone, AppendOfUnknownEnd_IsNotOvertaken) {
    store({row_to(1), row_to(2)});
    outbox.doubt();
    outbox.add({row_to(2)});
    EXPECT_TRUE(sent.empty());
    outbox.scan();
    loop.run();
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2"}));
    answer(Answer{});
    EXPECT_EQ(sent.back(), "2->2");
}

TEST_F(OutboxAlone, Scan_MessageInProgress_IsNotSentAgain) {
    store({row_to(1)});
    outbox.add({row_to(1)});
    outbox.scan();
    loop.run();
    EXPECT_EQ(sent.size(), 1u);
}

// An append removes the row, whatever the answer says.
class OutboxInDoubt : public OutboxAlone {
protected:
    void take_up(Seq seq) { journal.disk->outbox.erase({numbered(1), seq, 0}); }
};

TEST_F(OutboxInDoubt, AcceptedByAnAppendOfUnknownEnd_IsNotSentAgain) {
    outbox.add({row_to(1), row_to(2)});
    take_up(1);
    answer(fail(Code::store_unavailable, "planted"));
    loop.advance(Duration(1'000));
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2", "2->2"}));
    EXPECT_EQ(delivered, std::vector<std::string>{"1 taken"});
}

TEST_F(OutboxInDoubt, SentBackByAnAppendOfUnknownEnd_IsNotSentAgain) {
    outbox.add({row_to(1), row_to(2)});
    answer(fail(Code::not_found, "gone"));
    take_up(1);
    answer(fail(Code::store_unavailable, "planted"));
    loop.advance(Duration(1'000));
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2", "back 1", "2->2"}));
    EXPECT_EQ(delivered.front(), "1 not_found");
}

TEST_F(OutboxInDoubt, AcceptedAfterTheScanRead_IsNotSentAgain) {
    store({row_to(1)});
    journal.hold_reads = true;
    outbox.scan();
    loop.run();
    outbox.add({row_to(1)});
    take_up(1);
    answer(Answer{});
    journal.release_reads();
    EXPECT_EQ(sent.size(), 1u);
    EXPECT_EQ(outbox.waiting(), 0u);
}

TEST_F(OutboxInDoubt, StoreUnavailable_MessageWaitsBeforeLaterOnes) {
    outbox.add({row_to(1), row_to(2)});
    answer(fail(Code::store_unavailable, "planted"));
    journal.store = std::make_unique<SilentStore>(journal.disk);
    loop.advance(Duration(5'000));
    EXPECT_EQ(sent.size(), 1u);
    journal.reopen();
    loop.advance(Duration(1'000));
    EXPECT_EQ(sent, (std::vector<std::string>{"1->2", "1->2"}));
    answer(Answer{});
    EXPECT_EQ(sent.back(), "2->2");
}

}  // namespace
}  // namespace dormouse::runner::testing
