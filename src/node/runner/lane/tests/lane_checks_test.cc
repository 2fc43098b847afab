#include "runner/testing/catalogue.h"
#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"

#include <utility>

// Tests what a lane checks before it decides a submission: the caller's rights, and its values.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;

class LaneChecks
    : public testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    LaneChecks() {
        catalogue.input = Json::trusted("{}");
        host.services.checks = {&catalogue, nullptr};
    }

    testing::TestCatalogue catalogue;
};

TEST_F(LaneChecks, ResultThatMissesTheSchema_IsRefusedAndWritesNothing) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({job()});
    host.loop.run();
    PendingId const pending = host.work.ran.back().run.pending;
    PauseTerms pause;
    pause.schema = Json::trusted(R"({"type":"number"})");
    host.work.finish(pause);
    host.loop.run();
    Seq const before = host.lane->state().head;
    EXPECT_EQ(ask(submit(pending, result("one"))), "invalid_result");
    EXPECT_EQ(host.lane->state().head, before);
}

TEST_F(LaneChecks, Validator_WhileItWorks_TheSessionContinues) {
    PendingId const pending = waiting_call();
    catalogue.validators = {host.lane->state().calls.begin()->second.spec.tool};
    tell(submit(pending, result("first")));
    host.loop.run();
    ASSERT_EQ(catalogue.requests.size(), 1U);
    EXPECT_EQ(catalogue.requests[0].what.output.text(), R"("first")");
    EXPECT_FALSE(host.lane->may_sleep()) << "the submission waits in this lane";
    host.loop.advance(Duration(5'000));
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    Time const changed = host.lane->recent().back()->event.at;
    catalogue.answer(std::nullopt);
    host.loop.run();
    EXPECT_EQ(answers.back(), "applied");
    EXPECT_TRUE(host.lane->state().calls.empty());
    EXPECT_GE(host.lane->recent().back()->event.at, changed) << "time does not go back";
}

TEST_F(LaneChecks, Validator_AnotherOutcomeComesFirst_IsAConflict) {
    PendingId const pending = waiting_call();
    catalogue.validators = {host.lane->state().calls.begin()->second.spec.tool};
    tell(submit(pending, result("slow")));
    host.loop.run();
    ASSERT_EQ(catalogue.requests.size(), 1U);
    EXPECT_EQ(ask(Cancel{Cancel::Scope::call, pending}), "applied");
    catalogue.answer(std::nullopt);
    host.loop.run();
    EXPECT_EQ(answers.back(), "cancelled");
}

TEST_F(LaneChecks, Validator_RefusesOrGivesNoAnswer_LeavesTheCallWaiting) {
    PendingId const pending = waiting_call();
    catalogue.validators = {host.lane->state().calls.begin()->second.spec.tool};
    tell(submit(pending, result("bad")));
    host.loop.run();
    catalogue.answer("not a status");
    host.loop.run();
    EXPECT_EQ(answers.back(), "invalid_result");
    tell(submit(pending, result("good")));
    host.loop.run();
    catalogue.answer(fail(Code::validator_unavailable, "It ended with 1."));
    host.loop.run();
    EXPECT_EQ(answers.back(), "validator_unavailable");
    EXPECT_EQ(host.lane->state().calls.size(), 1U);
}

TEST_F(LaneChecks, Validator_OfASubmissionThatIsRefusedAnyway_IsNotAsked) {
    PendingId const pending = waiting_call();
    catalogue.validators = {host.lane->state().calls.begin()->second.spec.tool};
    EXPECT_EQ(ask(submit(pending, decision(true))), "wrong_kind");
    EXPECT_TRUE(catalogue.requests.empty());
}

TEST_F(LaneChecks, Validator_WhileTheServerStops_AnswersDraining) {
    PendingId const pending = waiting_call();
    catalogue.validators = {host.lane->state().calls.begin()->second.spec.tool};
    tell(submit(pending, result("late")));
    host.loop.run();
    host.drains = true;
    catalogue.answer(std::nullopt);
    host.loop.run();
    EXPECT_EQ(answers.back(), "draining");
    EXPECT_TRUE(host.lane->may_sleep());
}

TEST_F(LaneChecks, Validator_OfARunnerThatIsGone_ChangesNothing) {
    PendingId const pending = waiting_call();
    catalogue.validators = {host.lane->state().calls.begin()->second.spec.tool};
    tell(submit(pending, result("late")));
    host.loop.run();
    std::size_t const before = answers.size();
    host.lane->abandon();
    catalogue.answer(std::nullopt);
    host.loop.run();
    EXPECT_EQ(answers.size(), before);
}

TEST_F(LaneChecks, ToolThatIsGone_DecisionWaitsForIt) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({gated(plain())});
    host.loop.run();
    auto gate = std::move(host.work.gated.back());
    host.work.gated.pop_back();
    gate.done(GateOutcome{gate.ask.call, gate.ask.gate, pause_for(PauseReason::approval)});
    host.loop.run();
    PendingId const pending = host.lane->state().calls.begin()->second.pending;
    catalogue.input.reset();
    EXPECT_EQ(ask(submit(pending, decision(true))), "reentry_gone");
    catalogue.input = Json::trusted("{}");
    EXPECT_EQ(ask(submit(pending, decision(true))), "applied");
}

TEST_F(LaneChecks, CallerOfAnotherProject_FindsNothing) {
    PendingId const pending = waiting_call();
    Seq const before = host.lane->state().head;
    rights.projects = {"elsewhere"};
    EXPECT_EQ(ask(submit(pending, result("x"))), "not_found");
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "not_found");
    EXPECT_EQ(host.lane->state().head, before);
    rights.projects = {"elsewhere", "default"};
    EXPECT_EQ(ask(submit(pending, result("x"))), "applied");
}

}  // namespace
}  // namespace dormouse::runner
