#include "index/follower.h"

#include "base/enum_words.h"
#include "runner/lane/redact/redact.h"
#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace dormouse::index {
namespace {

using port::IndexState;
using ::testing::HasSubstr;
using ::testing::Not;
using Journal = runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk>;

// Keeps documents in memory, as durably as a test wants.
class FakeIndex final : public port::Index {
public:
    [[nodiscard]] std::string_view name() const override { return "fake"; }
    [[nodiscard]] Result<std::string> open() override {
        ++opens;
        if (broken) return fail(Code::store_full, "the disk is full");
        return position;
    }
    [[nodiscard]] Result<void> begin_rebuild() override {
        calls.clear();
        sessions.clear();
        position.clear();
        return {};
    }
    [[nodiscard]] Result<void> apply(port::IndexBatch const& batch) override {
        if (broken) return fail(Code::store_full, "the disk is full");
        ++batches;
        std::set<std::string> ids;
        for (auto const& call : batch.calls) {
            EXPECT_TRUE(ids.insert(call.id.text()).second) << call.id.text();
            calls[call.id] = call.text;
        }
        for (auto const& session : batch.sessions) {
            EXPECT_TRUE(ids.insert(session.id.text()).second) << session.id.text();
            sessions[session.id] = session.text;
        }
        for (auto const& gone : batch.deleted) {
            sessions.erase(gone.id);
            std::erase_if(calls, [&](auto const& one) { return one.first.session == gone.id; });
        }
        position = batch.position;
        unflushed_ = true;
        return {};
    }
    [[nodiscard]] Result<void> flush() override {
        ++flushes;
        unflushed_ = false;
        return {};
    }
    [[nodiscard]] std::optional<Duration> flush_within() const override {
        return unflushed_ ? std::optional(within) : std::nullopt;
    }

    std::map<PendingId, std::string> calls;
    std::map<SessionId, std::string> sessions;
    std::string position;
    bool broken = false;
    Duration within{1'000};
    int opens = 0, batches = 0, flushes = 0;

private:
    bool unflushed_ = false;
};

class TestWorkers final : public port::Workers {
public:
    explicit TestWorkers(port::Loop& loop) : loop_(loop) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job, port::Fn<void(bool)> done) override {
        loop_.post([job = std::move(job), done = std::move(done)]() mutable {
            job({});
            done(true);
        });
        return {};
    }

private:
    port::Loop& loop_;
};

class IndexFollowerTest : public runner::testing::RunnerTestOn<Journal> {
protected:
    void follow() {
        follower.reset();
        follower = std::make_unique<Follower>(
            Follower::Services{loop, clock, journal, workers}, index,
            Follower::Options{.writes = [this] { return writes; },
                              .changed =
                                  [this](port::IndexStatus const& status) {
                                      reports.emplace_back(word_of(status.state));
                                  }});
        follower->start();
        loop.run();
    }
    void appended() {
        follower->appended();
        loop.advance(Follower::gather);
    }
    [[nodiscard]] IndexState state() const { return follower->status().state; }

    TestWorkers workers{loop};
    FakeIndex index;
    bool writes = true;
    std::vector<std::string> reports;
    std::unique_ptr<Follower> follower;
};

TEST_F(IndexFollowerTest, FirstStart_WritesEverything) {
    SessionId const waiting = waiting_session(Duration(1'000'000));
    follow();
    EXPECT_EQ(state(), IndexState::current);
    EXPECT_TRUE(follower->status().settled);
    ASSERT_EQ(index.calls.size(), 1U);
    EXPECT_THAT(index.calls.begin()->second, HasSubstr(R"("status":"waiting")"));
    EXPECT_THAT(index.sessions.at(waiting),
                HasSubstr(R"("type":"waiting_async","pendingID":"pnd_)"));
}

TEST_F(IndexFollowerTest, Appends_AreOneBatch) {
    follow();
    int const before = index.batches;
    (void)waiting_session(Duration(1'000'000));
    (void)waiting_session(Duration(1'000'000));
    appended();
    EXPECT_EQ(index.batches, before + 1);
    EXPECT_EQ(index.calls.size(), 2U);
    EXPECT_EQ(index.sessions.size(), 2U);
    EXPECT_EQ(follower->status().behind_since, std::nullopt);
}

// The batch does not contain the session's content from before the redaction.
TEST_F(IndexFollowerTest, RedactionInTheBatchOfTheSession_LeavesOneDocument) {
    follow();
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    effects.reply({});
    loop.run();
    runner::Redactor redactor(*runner, journal);
    bool done = false;
    redactor.redact(session, {.message = 2}, {{session::ActorType::token, "ann"}},
                    [&](auto const& report) { done = report.has_value(); });
    loop.run();
    ASSERT_TRUE(done);
    appended();
    ASSERT_TRUE(index.sessions.contains(session));
    EXPECT_THAT(index.sessions[session], Not(HasSubstr("please")));
}

TEST_F(IndexFollowerTest, Restart_ContinuesAtThePosition) {
    follow();
    (void)waiting_session(Duration(1'000'000));
    appended();
    follower.reset();
    (void)waiting_session(Duration(1'000'000));
    follow();
    EXPECT_EQ(follower->status().rebuilds, 0U);
    EXPECT_EQ(index.calls.size(), 2U);
}

TEST_F(IndexFollowerTest, PositionOfAnotherStore_MeansRebuild) {
    (void)waiting_session(Duration(1'000'000));
    Position other{1, 1, SessionId::make(7, {1}), {}};
    index.position = other.text();
    follow();
    EXPECT_EQ(follower->status().rebuilds, 1U);
    EXPECT_EQ(index.calls.size(), 1U);
}

TEST_F(IndexFollowerTest, StoreThatLostItsEnd_MeansRebuild) {
    SessionId const session = waiting_session(Duration(1'000'000));
    auto end = end_of_feed(*journal.store).value();
    EXPECT_EQ(end.session, session);
    EXPECT_TRUE(has(*journal.store, end).value());
    auto longer = end;
    ++longer.next;
    EXPECT_FALSE(has(*journal.store, longer).value());
    auto changed = end;
    changed.stamp = static_cast<port::Stamp>(1);
    EXPECT_FALSE(has(*journal.store, changed).value());
}

// Nothing but the history shows it: other appends have taken the place of what was lost.
TEST_F(IndexFollowerTest, StoreFallsBack_DocumentsOfWhatWasLostAreRemoved) {
    SessionId const kept = waiting_session(Duration(1'000'000));
    auto const earlier = journal.disk->copy();
    SessionId const lost = waiting_session(Duration(1'000'000));
    follow();
    ASSERT_TRUE(index.sessions.contains(lost));
    journal.disk->fall_back(earlier);
    journal.disk->feed_head += 1'000;
    loop.advance(Follower::look_every);
    EXPECT_EQ(state(), IndexState::current);
    EXPECT_EQ(follower->status().rebuilds, 2U) << "of the first start, and of the fall-back";
    EXPECT_TRUE(index.sessions.contains(kept));
    EXPECT_FALSE(index.sessions.contains(lost));
    EXPECT_EQ(index.calls.size(), 1U);
}

TEST_F(IndexFollowerTest, StoreFellBackBeforeTheStart_IsNoticedAtTheStart) {
    SessionId const kept = waiting_session(Duration(1'000'000));
    auto const earlier = journal.disk->copy();
    SessionId const lost = waiting_session(Duration(1'000'000));
    (void)ask(kept, prompt("the newest place is of a session that is kept"));
    follow();
    ASSERT_TRUE(index.sessions.contains(lost));
    follower.reset();
    journal.disk->fall_back(earlier);
    journal.disk->feed_head += 1'000;
    SessionId const later = waiting_session(Duration(1'000'000));
    follow();
    EXPECT_EQ(follower->status().rebuilds, 1U);
    EXPECT_TRUE(index.sessions.contains(later));
    EXPECT_FALSE(index.sessions.contains(lost));
    EXPECT_EQ(index.sessions.size(), 2U);
    follower.reset();
    follow();
    EXPECT_EQ(follower->status().rebuilds, 0U) << "once";
}

// As after an upgrade, or when servers of two releases lead in turn.
TEST_F(IndexFollowerTest, PositionOfAnEarlierRelease_TakesTheHistoryOfTheStore) {
    (void)waiting_session(Duration(1'000'000));
    auto stored = end_of_feed(*journal.store).value();
    EXPECT_GT(stored.history, 0U);
    stored.history = 0;
    index.position = stored.text();
    follow();
    EXPECT_EQ(state(), IndexState::current);
    EXPECT_EQ(follower->status().rebuilds, 0U);
    EXPECT_EQ(Position::parse(index.position), end_of_feed(*journal.store).value());
    follower.reset();
    auto const earlier = journal.disk->copy();
    (void)waiting_session(Duration(1'000'000));
    journal.disk->fall_back(earlier);
    journal.disk->feed_head += 1'000;
    follow();
    EXPECT_EQ(follower->status().rebuilds, 1U) << "a fall-back is noticed from then on";
}

TEST_F(IndexFollowerTest, IndexFails_IsReportedOnceAndCatchesUp) {
    follow();
    reports.clear();
    index.broken = true;
    (void)waiting_session(Duration(1'000'000));
    appended();
    EXPECT_EQ(state(), IndexState::failed);
    EXPECT_EQ(follower->status().why, "the disk is full");
    loop.advance(Duration(300'000));
    EXPECT_GT(follower->status().failures, 5U);
    EXPECT_LT(follower->status().failures, 20U) << "the pauses grow";
    EXPECT_EQ(reports, std::vector<std::string>{"failed"});
    index.broken = false;
    loop.advance(Follower::retry_max);
    EXPECT_EQ(state(), IndexState::current);
    EXPECT_EQ(index.calls.size(), 1U);
    EXPECT_EQ(reports, (std::vector<std::string>{"failed", "current"}));
}

TEST_F(IndexFollowerTest, DeletedSession_IsRemoved) {
    SessionId const session = waiting_session(Duration(1'000'000));
    follow();
    (void)ask(session, session::Delete{});
    appended();
    EXPECT_TRUE(index.calls.empty());
    EXPECT_TRUE(index.sessions.empty());
}

TEST_F(IndexFollowerTest, Flush_ComesLaterAndOnce) {
    follow();
    loop.advance(index.within);
    int const before = index.flushes;
    for (int i = 0; i < 5; ++i) {
        (void)waiting_session(Duration(1'000'000));
        appended();
    }
    EXPECT_EQ(index.flushes, before);
    loop.advance(index.within);
    EXPECT_EQ(index.flushes, before + 1);
}

TEST_F(IndexFollowerTest, Flush_ComesAsLateAsTheIndexAllows) {
    follow();
    loop.advance(index.within);
    int const before = index.flushes;
    index.within = Duration(30'000);
    for (int i = 0; i < 5; ++i) {
        (void)waiting_session(Duration(1'000'000));
        appended();
        loop.advance(Duration(5'000));
    }
    EXPECT_EQ(index.flushes, before);
    loop.advance(index.within);
    EXPECT_EQ(index.flushes, before + 1);
    EXPECT_EQ(follower->status().behind_since, std::nullopt) << "the documents do not wait for it";
}

TEST_F(IndexFollowerTest, Standby_WritesNothingUntilItIsItsTurn) {
    writes = false;
    (void)waiting_session(Duration(1'000'000));
    follow();
    EXPECT_EQ(state(), IndexState::standby);
    EXPECT_TRUE(follower->status().settled);
    EXPECT_EQ(index.opens, 0);
    writes = true;
    loop.advance(Follower::look_every);
    EXPECT_EQ(state(), IndexState::current);
    EXPECT_EQ(index.calls.size(), 1U);
}

TEST(IndexPosition, Text_IsReadAgain) {
    Position const all{7, 6, SessionId::make(3, {9}),
                       static_cast<port::Stamp>(0xfedc'ba98'7654'3210)};
    EXPECT_EQ(Position::parse(all.text()), all);
    auto later = all;
    later.history = 12;
    EXPECT_EQ(later.text(), all.text() + ".12");
    EXPECT_EQ(Position::parse(later.text()), later);
    for (std::string const bad : {".", ".x", ".12.1"})
        EXPECT_EQ(Position::parse(all.text() + bad), std::nullopt) << bad;
    for (std::string const bad : {"", "1", "1.2.3", "1.2.3.ses_x", "-1.2.3.x", "1.2.g.x"})
        EXPECT_EQ(Position::parse(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace dormouse::index
