#include "wire/state_json.h"

#include "json/json.h"
#include "wire/journal/record.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>

namespace dormouse::wire {
namespace {

using namespace dormouse::session;
using namespace dormouse::session::testing;

void expect_same_after_a_round_trip(Given const& given) {
    std::string const text = write_state(given.state);
    ASSERT_TRUE(json::check(text)) << text;
    auto const back = read_state(given.id, text);
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == given.state) << text;
    EXPECT_EQ(write_state(*back), text);
    EXPECT_EQ(wake_at(*back), wake_at(given.state));
    EXPECT_EQ(outstanding(*back), outstanding(given.state));
}

TEST(StateJson, Snapshot_OfAnyScenario_EqualsTheFold) {
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        auto const sample = wire::testing::story(seed, 10 + static_cast<int>(seed % 50));
        expect_same_after_a_round_trip(sample);
    }
}

// A lane continues from a snapshot as from the fold: the rest of the journal leads to the same
// state.
TEST(StateJson, Snapshot_PlusTheRestOfTheJournal_EqualsTheFold) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        auto const sample = wire::testing::story(seed, 40);
        auto const& log = sample.archive.log;
        State state;
        state.id = sample.id;
        for (std::size_t i = 0; i < log.size(); ++i) {
            apply(state, log[i]);
            if (i == log.size() / 2) {
                auto read = read_state(sample.id, write_state(state));
                ASSERT_TRUE(read);
                state = std::move(*read);
            }
        }
        EXPECT_TRUE(state == sample.state);
    }
}

TEST(StateJson, Snapshot_HasClaimProgressQueueAndLabels) {
    Given given;
    given.waits_for({job(), gated(job())});
    ASSERT_EQ(answer_of(given.gate(2, pause_for(PauseReason::approval))), "applied");
    (void)given.when(Claim{given.pending(1), Duration(30'000)});
    (void)given.when(Progress{given.pending(1), Json::trusted("[50]"), "50"});
    (void)given.prompt("later", PromptMode::queue);
    (void)given.when(Change{"Ship\n\"it\"", "ops-1", Json::trusted(R"({"team":"a"})"), {}});
    EXPECT_TRUE(given.call(1).claim);
    ASSERT_EQ(given.state.queue.size(), 1U);
    expect_same_after_a_round_trip(given);
    given.state.queue[0].trace = {"00-1-2-01", ""};
    expect_same_after_a_round_trip(given);
    given.state.queue[0].trace.state = "a=1";
    expect_same_after_a_round_trip(given);
}

TEST(StateJson, Snapshot_HasVotesDecisionsAndQuestions) {
    Given given;
    PauseTerms two = pause_for(PauseReason::approval);
    two.answer = {{"ann", "bob", "eve"}, 2};
    given.asks_for({pausing(PauseReason::approval), with_policy(job(), CrashPolicy::ask)});
    (void)given.pauses(1, two);
    (void)given.submit(given.pending(1), decision(true));
    ASSERT_EQ(given.call(1).votes.size(), 1U);
    expect_same_after_a_round_trip(given);
    given.by.name = "bob";
    Submission edited = decision(true);
    edited.arguments = Json::trusted(R"({"to":"staging"})");
    edited.arguments_digest = sha256(edited.arguments.text());
    edited.content = Json::trusted(R"({"note":"ok"})");
    (void)given.submit(given.pending(1), edited);
    ASSERT_TRUE(given.call(1).resumed);
    expect_same_after_a_round_trip(given);
    (void)given.restart();  // cut off during a run: a person is asked
    ASSERT_TRUE(given.call(2).question);
    expect_same_after_a_round_trip(given);
}

TEST(StateJson, Snapshot_HasRetriesAndTheLastTurn) {
    Given given;
    given.asks_for({plain()});
    (void)given.tool_fails(1, true);
    ASSERT_EQ(given.call(1).phase, CallPhase::retry_wait);
    expect_same_after_a_round_trip(given);
    (void)given.cancel_turn();
    (void)given.prompt("again");
    (void)given.model_fails(true);
    ASSERT_TRUE(given.turn().retry);
    expect_same_after_a_round_trip(given);
    (void)given.later(Duration(60'000));
    (void)given.model_fails(false);
    ASSERT_TRUE(given.state.last_turn && given.state.last_turn->error);
    expect_same_after_a_round_trip(given);
}

TEST(StateJson, Snapshot_HasUncheckedAndUnnotifiedTurns) {
    Given given;
    given.terms.before = {"limits", "notes"};
    given.terms.after = {"audit"};
    (void)given.create();
    (void)given.prompt("please");
    ASSERT_NE(given.turn().unchecked, 0U);
    expect_same_after_a_round_trip(given);
    (void)given.when(TurnOutcome{1, false, "not today", {}});
    (void)given.prompt("and now?");
    ASSERT_EQ(given.state.unnotified.size(), 1U);
    ASSERT_TRUE(given.state.unnotified[0].error);
    expect_same_after_a_round_trip(given);
}

TEST(StateJson, Snapshot_HasAnExternalAgentDuringATurn) {
    Given given;
    given.terms.on_restart = OnRestart::ask;
    (void)given.create();
    (void)given.prompt("please");
    (void)given.when(AgentAttach{1, 1, 1, "s0", "new", "fake 1"});
    (void)given.when(AgentAttach{1, 1, 1, "s1", "new", "fake 1"});
    ASSERT_EQ(given.state.acp_left, (std::set<std::string>{"s0"}));
    AgentOutput work{AgentOutputKind::tool,   Json::trusted("{}"), false, "t1", "ls",
                     AgentToolStatus::pending};
    (void)given.when(AgentReport{1, 1, 1, 1, work});
    AgentAsk ask{1, 1, 1, 1, plain("acp:execute"), pause_for(PauseReason::approval)};
    ask.spec.ask = ask.spec.ask_attempt = 1;
    ask.spec.input_digest = sha256(json::canonical(ask.spec.input));
    ask.spec.shown = sha256("all of it");
    ask.terms.continuation = Continuation::tool_response;
    (void)given.when(ask);
    expect_same_after_a_round_trip(given);
    (void)given.submit(given.pending(1), decision(true));
    ASSERT_EQ(given.turn().external.permissions.size(), 1U);
    ASSERT_TRUE(given.turn().external.permissions[0].shown);
    expect_same_after_a_round_trip(given);
    (void)given.when(AgentFailure{1, 1, 1, {"agent_crashed", "gone"}, AgentFailure::How::died});
    ASSERT_EQ(given.state.lifecycle, Lifecycle::paused);
    (void)given.when(AgentTyped{Given::parts("typed"), 700});
    expect_same_after_a_round_trip(given);
    (void)given.move(Move::To::resume);
    expect_same_after_a_round_trip(given);
    (void)given.cancel_turn();
    expect_same_after_a_round_trip(given);
}

TEST(StateJson, Snapshot_HasBudgets) {
    Given given;
    given.terms.timed = true;
    Budget const of_turn{{BudgetPer::turn, BudgetKind::steps, {}}, 1};
    Budget const of_session{{BudgetPer::session, BudgetKind::wall_time, {}}, 2'000};
    given.budgets = std::make_shared<std::vector<Budget>>(std::vector{of_turn, of_session});
    given.asks_for({plain()});
    given.now += Duration(3'000);
    (void)given.finish(1);
    ASSERT_EQ(given.turn().budget_call, 2U);
    expect_same_after_a_round_trip(given);
    (void)given.submit(given.pending(2), decision(true));
    ASSERT_EQ(given.turn().raised.size(), 1U);
    ASSERT_EQ(given.turn().budget_call, 3U) << "the next budget asks";
    expect_same_after_a_round_trip(given);
    (void)given.submit(given.pending(3), decision(true));
    ASSERT_EQ(given.state.raised.size(), 1U);
    (void)given.reply();
    ASSERT_EQ(given.state.last_turn->raised.size(), 1U);
    ASSERT_EQ(given.state.last_turn->worked, Duration(3'000));
    expect_same_after_a_round_trip(given);
}

TEST(StateJson, Snapshot_OfAFork_KeepsItsOrigin) {
    Given given;
    SessionId const origin = SessionId::make(3, {});
    Create::ForkOf const fork{origin, 12, Json::trusted("[]"), 4};
    (void)given.when(
        Create{given.id, "default", "coder", "a", "t", "/w", Json::trusted("{}"), {}, fork});
    EXPECT_EQ(given.state.forked_from, origin);
    expect_same_after_a_round_trip(given);
}

TEST(StateJson, NoSnapshot_IsIgnored) {
    for (std::string_view const text : {"null", "[]", "{}", "7", "\"x\"", R"({"tail":1})"}) {
        EXPECT_FALSE(read_state(SessionId(), text)) << text;
    }
}

TEST(StateJson, Base_OfAnotherFormat_IsRefusedAsNewer) {
    auto const sample = wire::testing::story(1, 20);
    std::string frame = pack_base(sample.state, Time(), sample.state.head, {});
    auto const read = base_state(sample.id, frame);
    ASSERT_TRUE(read && *read);
    EXPECT_TRUE(**read == sample.state);
    std::string const format = "," + std::to_string(base_format) + "]";
    std::size_t const at = frame.rfind(format);
    ASSERT_NE(at, std::string::npos);
    frame.replace(at, format.size(), "," + std::to_string(base_format + 1) + "]");
    auto const newer = base_state(sample.id, frame);
    ASSERT_FALSE(newer);
    EXPECT_EQ(newer.error().code, Code::newer_format);
}

}  // namespace
}  // namespace dormouse::wire
