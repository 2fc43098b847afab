#include "runner/runner.h"

#include "runner/lane/cut.h"
#include "runner/lane/redact/redact.h"
#include "runner/repair/verify.h"
#include "runner/testing/two_runners_fixture.h"

// Two processes with one store: any of them answers, and one of them drives each session.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using Server = testing::SharedServer;
using testing::TwoRunners;

TEST_F(TwoRunners, SessionThatSleeps_IsDrivenByWhoeverWakesIt) {
    begin({job()});
    EXPECT_EQ(driver(), a.nodes.epoch());
    PendingId const pending = a.effects.ran.back().run.pending;
    a.effects.finish(PauseTerms());
    loop.run();
    EXPECT_EQ(driver(), 0U) << "it sleeps";
    EXPECT_EQ(b.ask(session, submit(pending, "1")), "applied");
    EXPECT_EQ(driver(), b.nodes.epoch());
    EXPECT_EQ(b.effects.requests.size(), 1U) << "B asks the model";
    EXPECT_EQ(a.effects.requests.size(), 0U);
    scan();
    EXPECT_EQ(a.effects.starts, 2) << "its model request and its tool, and nothing since";
}

// Its process knows the runs that it has started, and would hold this one for a lost one.
TEST_F(TwoRunners, ToolThatHasNotBegun_IsStartedAgain) {
    begin({plain()});
    auto const refused = std::move(a.effects.ran.at(0));
    a.effects.ran.clear();
    a.runner->not_begun(session, refused.id);
    scan();
    ASSERT_EQ(a.effects.ran.size(), 1U);
    EXPECT_EQ(a.effects.ran.at(0).run.attempt, 1U);
}

TEST_F(TwoRunners, ResultElsewhere_IsSettledThereAndTheDriverContinues) {
    begin({job(), plain()});
    PendingId const pending = a.effects.ran.front().run.pending;
    a.effects.finish_at(0, PauseTerms());
    loop.run();
    EXPECT_EQ(b.ask(session, submit(pending, "1")), "applied");
    EXPECT_EQ(b.ask(session, submit(pending, "1")), "duplicate");
    EXPECT_EQ(b.effects.starts, 0);
    EXPECT_EQ(driver(), a.nodes.epoch());
    a.effects.finish_at(0, Done{quoted("out"), {}, {}});
    loop.run();
    EXPECT_EQ(a.effects.requests.size(), 1U) << "both calls are settled";
    EXPECT_EQ(b.effects.starts, 0);
}

TEST_F(TwoRunners, NextTurnElsewhere_IsBegunByTheDriverAtItsScan) {
    begin({job(), plain()});
    PendingId const pending = a.effects.ran.front().run.pending;
    a.effects.finish_at(0, PauseTerms());
    loop.run();
    EXPECT_EQ(b.ask(session, submit(pending, "1")), "applied");
    EXPECT_EQ(b.ask(session, Cancel{Cancel::Scope::turn, {}}), "applied");
    EXPECT_EQ(b.ask(session, prompt()), "applied");
    EXPECT_EQ(b.effects.starts, 0);
    EXPECT_EQ(wake_at(stored()), from_ms(0));
    scan();
    EXPECT_EQ(a.effects.requests.size(), 1U) << "the next turn";
    EXPECT_FALSE(a.effects.stopped.empty()) << "the cancelled tool";
    EXPECT_EQ(b.effects.starts, 0);
}

// The agent "demo" keeps something on the machine of the node that runs it.
class BoundToNode : public TwoRunners {
protected:
    BoundToNode() {
        a.nodes.named = "a";
        b.nodes.named = "b";
        a.effects.placed = b.effects.placed = "demo";
    }
    void kill_a() {
        a.runner.reset();
        b.journal.store->declare_gone(a.nodes.epoch());
    }
    std::string move_to(std::string node) {
        Change change;
        change.node = std::move(node);
        return b.ask(session, std::move(change));
    }
};

TEST_F(BoundToNode, PromptElsewhere_WaitsForTheNodeThatMadeTheSession) {
    begin({});
    EXPECT_EQ(stored().node, "a");
    EXPECT_EQ(b.ask(session, prompt()), "applied");
    EXPECT_EQ(driver(), 0U);
    EXPECT_EQ(b.effects.starts, 0);
    scan();
    EXPECT_EQ(a.effects.requests.size(), 1U);
    EXPECT_EQ(b.effects.starts, 0);
}

TEST_F(BoundToNode, NodeIsGone_SessionWaitsUntilItIsMoved) {
    begin({});
    kill_a();
    EXPECT_EQ(b.ask(session, prompt()), "applied");
    for (int n = 0; n < 100; ++n) scan();
    EXPECT_EQ(b.effects.starts, 0);
    EXPECT_EQ(move_to("b"), "applied");
    EXPECT_EQ(stored().node, "b");
    scan();
    EXPECT_EQ(b.effects.requests.size(), 1U);
}

TEST_F(BoundToNode, NodeIsGoneInTheMiddleOfWork_MoveSettlesIt) {
    begin({with_policy(plain(), CrashPolicy::retry)});
    EXPECT_EQ(move_to("b"), "session_busy");
    kill_a();
    for (int n = 0; n < 100; ++n) scan();
    EXPECT_EQ(b.effects.starts, 0);
    EXPECT_EQ(move_to("b"), "applied");
    scan();
    ASSERT_EQ(b.effects.ran.size(), 1U);
    EXPECT_EQ(b.effects.ran.back().run.attempt, 2U);
}

TEST_F(BoundToNode, MoveAndPromptInOneTurn_RunOnTheOther) {
    begin({});
    Change change;
    change.node = "b";
    auto const ignore = [](Result<Answer> const& /*answer*/) {};
    a.runner->command(session, change, {{ActorType::token, "ann"}}, ignore);
    a.runner->command(session, prompt(), {{ActorType::token, "ann"}}, ignore);
    loop.run();
    EXPECT_EQ(stored().node, "b");
    EXPECT_EQ(driver(), 0U);
    scan();
    EXPECT_EQ(a.effects.requests.size(), 0U);
    EXPECT_EQ(b.effects.requests.size(), 1U);
}

TEST_F(BoundToNode, DeadlineWhileTheNodeIsGone_Expires) {
    begin({job()});
    PauseTerms terms;
    terms.timeout = Duration(60'000);
    a.effects.finish(terms);
    loop.run();
    kill_a();
    for (int n = 0; n < 100; ++n) scan();
    EXPECT_TRUE(stored().calls.empty() || stored().waiting == 0U);
    EXPECT_EQ(b.effects.starts, 0);
}

TEST_F(BoundToNode, SessionOfASharedFolder_CanContinueAnywhereAndCannotMove) {
    a.effects.placed = b.effects.placed = "another";
    begin({});
    EXPECT_EQ(stored().node, "");
    EXPECT_EQ(move_to("b"), "wrong_kind");
    EXPECT_EQ(b.ask(session, prompt()), "applied");
    EXPECT_EQ(b.effects.requests.size(), 1U);
}

TEST_F(TwoRunners, DriverIsGone_OtherTakesOverAndSettlesItsRuns) {
    begin({with_policy(plain(), CrashPolicy::retry)});
    scan();
    EXPECT_EQ(b.effects.starts, 0) << "its driver works";
    a.runner.reset();  // killed
    b.journal.store->declare_gone(a.nodes.epoch());
    scan();
    ASSERT_EQ(b.effects.ran.size(), 1U);
    EXPECT_EQ(b.effects.ran[0].run.attempt, 2U);
    EXPECT_EQ(driver(), b.nodes.epoch());
    EXPECT_EQ(b.runner->taken_over(), 1U);
}

// The gate's question has no intent: the driver alone is written.
TEST_F(TwoRunners, DriverDrains_OtherStartsTheToolAtOnce) {
    begin({});
    ASSERT_EQ(a.ask(session, prompt()), "applied");
    bool drained = false;
    a.runner->drain([&] { drained = true; });
    a.effects.reply({with_policy(plain(), CrashPolicy::never)});
    loop.advance(Duration(100));
    EXPECT_TRUE(drained);
    EXPECT_TRUE(a.effects.ran.empty());
    EXPECT_EQ(driver(), 0U);
    EXPECT_EQ(wake_at(stored()), from_ms(0));
    scan();
    for (int n = 0; n < 5; ++n) scan();
    ASSERT_EQ(b.effects.ran.size(), 1U);
    EXPECT_EQ(b.effects.ran.back().run.attempt, 1U);
    EXPECT_EQ(stored().calls.at(1).in_doubt, false);
}

TEST_F(TwoRunners, DriverIsGone_GateIsAskedByTheOther) {
    begin({gated(plain(), {"approve"})});
    ASSERT_EQ(a.effects.gated.size(), 1U);
    Seq const head = stored().head;
    a.runner.reset();
    b.journal.store->declare_gone(a.nodes.epoch());
    scan();
    EXPECT_EQ(b.effects.gated.size(), 1U);
    EXPECT_EQ(driver(), b.nodes.epoch());
    EXPECT_EQ(stored().head, head);
    EXPECT_EQ(b.runner->taken_over(), 1U);
}

TEST_F(TwoRunners, DriverIsGone_ItsSessionIsKnownUntilItIsTakenOver) {
    begin({with_policy(plain(), CrashPolicy::retry)});
    auto const due = [&] {
        return b.journal.store->due(from_ms(0), std::nullopt, 9).value().at(0);
    };
    EXPECT_FALSE(b.runner->has_lost_driver(due())) << "its driver works";
    a.runner.reset();  // killed
    b.journal.store->declare_gone(a.nodes.epoch());
    EXPECT_TRUE(b.runner->has_lost_driver(due()));
    scan();
    EXPECT_FALSE(b.runner->has_lost_driver(due()));
    EXPECT_EQ(due().driver, b.nodes.epoch());
}

TEST_F(TwoRunners, NoHeartbeat_NoEffectStarts) {
    begin({job()});
    PendingId const pending = a.effects.ran.back().run.pending;
    a.effects.finish(PauseTerms());
    loop.run();
    b.nodes.beats = false;
    EXPECT_EQ(b.ask(session, submit(pending, "1")), "applied") << "the store checks appends";
    EXPECT_EQ(b.effects.starts, 0) << "A may declare B dead at any moment";
    b.nodes.beats = true;
    scan();
    EXPECT_EQ(b.effects.requests.size(), 1U);
}

// The model's view is read from the store, because memory has not the whole history.
class ViewIsRead : public TwoRunners {
protected:
    void begin_long() {
        begin({});
        Prompt large = prompt();
        large.parts = Given::parts(std::string(600'000, 'x'));
        for (int turn = 0; turn < 3; ++turn) {
            ASSERT_EQ(a.ask(session, large), "applied");
            a.effects.reply();
            loop.run();
        }
        a.journal.hold_reads = true;
        ASSERT_EQ(a.ask(session, prompt()), "applied");
        ASSERT_TRUE(a.effects.requests.empty());
    }
};

TEST_F(ViewIsRead, NoHeartbeatMeanwhile_ModelIsNotAsked) {
    begin_long();
    a.nodes.beats = false;
    a.journal.release_reads();
    EXPECT_TRUE(a.effects.requests.empty()) << "B may declare A dead at any moment";
    a.nodes.beats = true;
    scan();
    EXPECT_EQ(a.effects.requests.size(), 1U);
}

TEST_F(ViewIsRead, NewEpochMeanwhile_ModelIsAskedByTheNextAttempt) {
    begin_long();
    b.journal.store->declare_gone(a.nodes.epoch());
    a.runner->fenced();
    loop.run();
    a.journal.release_reads();
    scan();
    ASSERT_EQ(a.effects.requests.size(), 1U);
    EXPECT_EQ(a.effects.requests.back().request.ask.attempt, 2U);
}

TEST_F(TwoRunners, AppendedElsewhere_WakesWhoWatchesHere) {
    begin({job(), plain()});
    std::shared_ptr<Lane> lane;
    b.runner->read_lane(session, [&](auto const& found) { lane = found.value(); });
    loop.run();
    std::vector<Seq> seen;
    auto const watch = lane->watch([&] { seen.push_back(lane->state().head); });
    Seq const before = lane->state().head;
    a.effects.finish_at(0, PauseTerms());
    loop.run();
    EXPECT_TRUE(seen.empty()) << "B was not notified";
    b.runner->appended_elsewhere(session);
    loop.run();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_GT(seen[0], before);
    EXPECT_EQ(lane->recent().back()->event.seq, seen[0]);
    lane->unwatch(watch);
}

// As when the feed does not tell what was appended.
TEST_F(TwoRunners, MemoryForgotten_WakesWhoWatchesHere) {
    begin({job(), plain()});
    std::shared_ptr<Lane> lane;
    b.runner->read_lane(session, [&](auto const& found) { lane = found.value(); });
    loop.run();
    Seq seen = 0;
    auto const watch = lane->watch([&] { seen = lane->state().head; });
    a.effects.finish_at(0, PauseTerms());
    loop.run();
    b.runner->forget_memory();
    loop.run();
    EXPECT_EQ(seen, stored().head);
    lane->unwatch(watch);
}

TEST_F(TwoRunners, AppendedElsewhere_NobodyWatches_IsReadWhenNeeded) {
    begin({job()});
    std::weak_ptr<Lane> resident;
    auto const look = [&] {
        b.runner->read_lane(session, [&](auto const& found) { resident = found.value(); });
        loop.run();
    };
    look();
    ASSERT_TRUE(resident.lock() && resident.lock()->loaded());
    a.effects.finish(PauseTerms());
    loop.run();
    b.runner->appended_elsewhere(session);
    loop.run();
    ASSERT_TRUE(resident.lock());
    EXPECT_FALSE(resident.lock()->loaded());
    look();
    EXPECT_EQ(resident.lock()->state().head, stored().head);
}

// A process can be notified late, and more than once, of what another one appended.
TEST_F(TwoRunners, AppendedElsewhere_MemoryHasIt_StaysInMemory) {
    begin({job()});
    std::weak_ptr<Lane> resident;
    auto const stays = [&](port::FeedRow const& row) {
        b.runner->read_lane(session, [&](auto const& found) { resident = found.value(); });
        loop.run();
        b.runner->appended_elsewhere(row);
        loop.run();
        return resident.lock() && resident.lock()->loaded();
    };
    auto const frames = b.journal.store->page(session, 1, SIZE_MAX).value();
    ASSERT_GT(frames.size(), 1U);
    port::FeedRow row{.n = 1, .session = session, .project = "default", .frame = frames.back()};
    EXPECT_TRUE(stays(row)) << "the newest";
    row.frame = frames.front();
    EXPECT_TRUE(stays(row)) << "an earlier one";

    row.frame = frames.back();
    row.frame.bytes += " ";
    EXPECT_FALSE(stays(row)) << "another one in the place of the newest";
    row.frame = frames.back();
    row.frame.first += row.frame.count;
    EXPECT_FALSE(stays(row)) << "the next one";
    row.frame.first += 100;
    EXPECT_FALSE(stays(row)) << "one after a gap";
    row.frame = {.first = frames.front().first, .count = 0, .bytes = ""};
    EXPECT_FALSE(stays(row)) << "one that cannot be read";
    row.frame.count = 1;
    row.deleted = true;
    EXPECT_FALSE(stays(row)) << "the session was deleted";
}

TEST_F(TwoRunners, AppendedElsewhere_WhileMemoryIsRead_IsComparedWithTheStore) {
    begin({job()});
    Seq seen = 0;
    b.journal.hold_reads = true;
    b.runner->read_lane(session, [&](auto const& found) { seen = found.value()->state().head; });
    loop.run();
    a.effects.finish(PauseTerms());
    loop.run();
    auto const frames = b.journal.store->page(session, stored().head, SIZE_MAX).value();
    b.runner->appended_elsewhere(
        {.n = 1, .session = session, .project = "default", .frame = frames.back()});
    b.journal.release_reads();
    loop.run();
    EXPECT_EQ(seen, stored().head);
}

TEST_F(TwoRunners, AppendedElsewhere_DriverContinuesAtOnce) {
    begin({job(), plain()});
    PendingId const pending = a.effects.ran.front().run.pending;
    a.effects.finish_at(0, PauseTerms());
    loop.run();
    EXPECT_EQ(b.ask(session, submit(pending, "1")), "applied");
    EXPECT_EQ(b.ask(session, Cancel{Cancel::Scope::turn, {}}), "applied");
    EXPECT_EQ(b.ask(session, prompt()), "applied");
    a.runner->appended_elsewhere(session);
    loop.run();
    EXPECT_EQ(a.effects.requests.size(), 1U) << "the next turn, before any scan";
}

// A tick that is due 10 s from now: the deadline of a pause.
TEST_F(TwoRunners, DueSession_IsTickedByTheOneThatHasItsShare) {
    begin({job()});
    PauseTerms terms;
    terms.timeout = Duration(10'000);
    a.effects.finish(terms);
    loop.run();
    a.runner.reset();  // its own timer would be first
    b.nodes.share = false;
    b.journal.store->declare_gone(a.nodes.epoch());
    loop.advance(Duration(12'000));
    EXPECT_EQ(stored().waiting, 1U) << "it is another process's share";
    loop.advance(Duration(3'000));
    EXPECT_EQ(stored().waiting, 0U) << "overdue: anybody's";
}

// Both have the session in memory, and the poll is due before they scan again.
TEST_F(TwoRunners, DuePoll_IsMadeByTheOneThatHasItsShare) {
    begin({job()});
    PauseTerms terms;
    terms.poll_every = Duration(1'500);
    a.effects.finish(terms);
    loop.run();
    EXPECT_EQ(b.ask(session, Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(a.ask(session, Change{"another", {}, {}, {}}), "applied");
    a.nodes.share = false;
    loop.advance(Duration(3'000));
    EXPECT_EQ(a.effects.polled.size(), 0U);
    EXPECT_EQ(b.effects.polled.size(), 1U);
    loop.advance(Duration(2'000));
    EXPECT_EQ(a.effects.polled.size(), 1U) << "overdue: anybody's";
}

// No other process may: the session has a driver.
TEST_F(TwoRunners, DuePollOfADrivenSession_IsMadeByItsDriver) {
    begin({job(), job()});
    PauseTerms terms;
    terms.poll_every = Duration(1'500);
    a.effects.finish_at(0, terms);
    loop.run();
    a.nodes.share = false;
    loop.advance(Duration(2'000));
    EXPECT_EQ(a.effects.polled.size(), 1U);
    EXPECT_EQ(b.effects.polled.size(), 0U);
}

TEST_F(TwoRunners, FencedServer_JoinsAgainAndItsOutcomesAreOffered) {
    begin({with_policy(plain(), CrashPolicy::never)});
    Epoch const before = a.nodes.epoch();
    b.journal.store->declare_gone(before);
    EXPECT_EQ(a.ask(session, Change{"a title", {}, {}, {}}), "store_unavailable");
    EXPECT_EQ(a.nodes.rejoined, 1);
    EXPECT_GT(a.nodes.epoch(), before);
    EXPECT_EQ(a.ask(session, Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(stored().title, "a title");
    scan();
    EXPECT_EQ(stored().turn->step, 2U) << "the run is unknown, and the model is asked";
    a.effects.finish_at(0, Done{quoted("late"), {}, {}});
    loop.run();
    EXPECT_EQ(stored().title, "a title");
    EXPECT_EQ(a.effects.ran.size() + b.effects.ran.size(), 0U) << "nothing ran twice";
}

// B's turn of the session had begun before A died: what A left in doubt is settled first.
TEST_F(TwoRunners, DriverGoneDuringALookUp_ItsRunIsNotStartedAgain) {
    begin({with_policy(plain(), CrashPolicy::never)});
    EXPECT_EQ(b.ask(session, Change{"a title", {}, {}, {}}), "applied") << "B has it in memory";
    b.journal.hold_reads = true;
    std::string answer;
    b.runner->command(
        session, prompt(), {{ActorType::token, "ann"}, "key", "digest"},
        [&](Result<Answer> const& got) { answer = answer_of(Decision{{}, got, {}}); });
    loop.run();
    ASSERT_EQ(answer, "") << "it looks the key up";
    a.runner.reset();
    b.journal.store->declare_gone(a.nodes.epoch());
    b.journal.hold_reads = false;
    b.journal.release_reads();
    scan();
    EXPECT_EQ(answer, "applied");
    EXPECT_EQ(driver(), b.nodes.epoch());
    EXPECT_EQ(b.effects.ran.size(), 0U) << "a tool that never runs again";
}

TEST_F(TwoRunners, RacingCreations_OfOneKey_AreOneSession) {
    Create const create{{}, "default", "demo", {}, "an-alias", {}, {}, {}, {}};
    std::vector<Result<Created>> made;
    for (Server* const server : {&a, &b}) {
        server->runner->create(create, {{ActorType::token, "ann"}, "key", "digest"},
                               [&](Result<Created> const& one) { made.push_back(one); });
    }
    loop.run();
    ASSERT_EQ(made.size(), 2U);
    ASSERT_TRUE(made[0]) << made[0].error().detail;
    ASSERT_TRUE(made[1]) << made[1].error().detail;
    EXPECT_EQ(made[0]->session, made[1]->session);
}

// B looks up what its memory names, and A has cut it from the history meanwhile.
TEST_F(TwoRunners, HistoryCutElsewhere_LookUpIsMadeAgain) {
    begin({});
    std::string answer;
    auto const repeat = [&](Server& server) {
        answer = "no answer";
        server.runner->command(
            session, prompt(), {{ActorType::token, "ann"}, "key", "digest"},
            [&](Result<Answer> const& got) { answer = answer_of(Decision{{}, got, {}}); });
        loop.run();
        return answer;
    };
    auto const end_turn = [this] {
        while (!a.effects.requests.empty()) {
            a.effects.reply();
            loop.run();
        }
    };
    end_turn();
    ASSERT_EQ(repeat(a), "applied");
    end_turn();
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(a.ask(session, prompt()), "applied");
        end_turn();
    }
    bool read = false;
    b.runner->read_lane(session, [&](auto const& lane) { read = lane.has_value(); });
    loop.run();
    ASSERT_TRUE(read);
    auto const planned = plan_cut(*a.journal.store, session, {.messages = 2}, a.clock.now());
    ASSERT_TRUE(planned && planned->cut);
    ASSERT_EQ(a.ask(session, planned->cut->command), "applied");
    EXPECT_EQ(repeat(b), "history_gone");
}

// B has the session in memory, with the message that A removes.
TEST_F(TwoRunners, RedactionElsewhere_MemoryIsReadAgainAndBothContinue) {
    begin({});
    std::string seen;
    auto const look = [&](Server& server) {
        seen.clear();
        server.runner->read_lane(session, [&](Result<std::shared_ptr<Lane>> const& lane) {
            for (wire::RecordPtr const& record : (*lane)->recent()) seen += record->data;
            seen += " " + shown_title((*lane)->state());
        });
        loop.run();
        return seen;
    };
    EXPECT_NE(look(a).find("\"go\""), std::string::npos);
    EXPECT_NE(look(b).find("\"go\""), std::string::npos);
    Redactor redactor(*a.runner, a.journal);
    std::vector<RedactionReport> reports;
    for (int i = 0; i < 2; ++i) {
        redactor.redact(session, {.message = 2}, {{ActorType::token, "ann"}},
                        [&](Result<RedactionReport> const& report) {
                            ASSERT_TRUE(report) << report.error().detail;
                            reports.push_back(*report);
                        });
        loop.run();
    }
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[0].seq, stored().head);
    EXPECT_EQ(reports[1].seq, reports[0].seq) << "a repeat changes nothing";
    Prompt later;
    later.parts = Given::parts("more");
    for (Server* const server : {&b, &a}) {
        EXPECT_EQ(look(*server).find("\"go\""), std::string::npos) << seen;
        EXPECT_NE(seen.find("[removed by ann on "), std::string::npos) << seen;
        EXPECT_EQ(server->ask(session, later), "applied");
        server->effects.reply();
        loop.run();
    }
    EXPECT_TRUE(verify(*b.journal.store, [](std::uint64_t) {})->findings.empty());
}

}  // namespace
}  // namespace dormouse::runner
