#include "agent/effects.h"

#include <gtest/gtest.h>

// What starts while the queue of the worker threads is full has not begun, and is started again.
namespace dormouse::agent {
namespace {

using namespace session;

class FullWorkers final : public port::Workers {
public:
    std::stop_source run(port::Fn<void(std::stop_token)> job, port::Fn<void(bool)> done) override {
        if (!full) job({});
        done(!full);
        return {};
    }
    bool full = true;
};

class FullQueue : public ::testing::Test {
protected:
    FullQueue() {
        Tool tool;
        tool.name = "count";
        tool.schema = Json::trusted("{}");
        tool.run = [this](ToolCall const&, std::stop_token const&) -> ToolResult {
            ++runs;
            return Done{};
        };
        registry.add(std::move(tool));
        registry.add(Gate{.name = "approve",
                          .decide = [this](GateCall const&) -> GateDecision {
                              ++runs;
                              return Allow{};
                          },
                          .may_block = true});
    }
    port::Outcome take() {
        return [this](Command::Body body) { outcomes.push_back(std::move(body)); };
    }

    Registry registry;
    FullWorkers workers;
    PendingId pending{SessionId::make(1, {}), 1, 1, {9}};
    std::vector<std::pair<SessionId, EffectId>> not_begun;
    AgentEffects effects{registry, workers, {.not_begun = [this](SessionId session, EffectId id) {
                             not_begun.emplace_back(session, id);
                         }}};
    std::vector<Command::Body> outcomes;
    int runs = 0;
};

TEST_F(FullQueue, Gate_IsNotDeniedAndLaterAsked) {
    for (bool const full : {true, false}) {
        workers.full = full;
        effects.ask_gate(pending.session, {7, 1}, "demo",
                         {1, "approve", "count", Json::trusted("{}"), {}}, take());
        EXPECT_EQ(not_begun, (std::vector{std::pair(pending.session, EffectId{7, 1})}));
        EXPECT_EQ(outcomes.size(), full ? 0U : 1U);
    }
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(
        std::holds_alternative<GateOutcome::Allow>(std::get<GateOutcome>(outcomes.at(0)).what));
}

TEST_F(FullQueue, Tool_HasNotFailedAndLaterRuns) {
    for (bool const full : {true, false}) {
        workers.full = full;
        RunTool run{pending, 1, "count", Json::trusted("{}"), {}};
        effects.run_tool(pending.session, {7, 1}, "demo", std::move(run), take());
        EXPECT_EQ(not_begun, (std::vector{std::pair(pending.session, EffectId{7, 1})}));
        EXPECT_EQ(outcomes.size(), full ? 0U : 1U);
    }
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(std::holds_alternative<Done>(std::get<ToolOutcome>(outcomes.at(0)).what));
}

// Keeps what it is given until the test runs it.
class WaitingWorkers final : public port::Workers {
public:
    std::stop_source run(port::Fn<void(std::stop_token)> job, port::Fn<void(bool)> done) override {
        jobs.emplace_back(std::move(job), std::move(done));
        return {};
    }
    std::vector<std::pair<port::Fn<void(std::stop_token)>, port::Fn<void(bool)>>> jobs;
};

TEST(QueuedGate, Time_BeginsWhenAThreadTakesIt) {
    Registry registry;
    registry.add(Gate{.name = "approve",
                      .decide = [](GateCall const&) -> GateDecision { return Allow{}; },
                      .may_block = true});
    WaitingWorkers workers;
    Time now = from_ms(1'000'000);
    AgentEffects effects{registry,
                         workers,
                         {.now = [&now] { return now; }, .not_begun = [](SessionId, EffectId) {}}};
    SessionId const session = SessionId::make(1, {});
    int outcomes = 0;
    effects.ask_gate(session, {7, 1}, "demo", {1, "approve", "count", Json::trusted("{}"), {}},
                     [&outcomes](Command::Body const&) { ++outcomes; });
    EXPECT_EQ(effects.model_until(session, {7, 1}), Time::max());
    now += Duration(90'000);
    workers.jobs.at(0).first({});
    EXPECT_EQ(effects.model_until(session, {7, 1}), now + limits::gate_time_limit);
    workers.jobs.at(0).second(true);
    EXPECT_EQ(outcomes, 1);
    EXPECT_EQ(effects.model_until(session, {7, 1}), std::nullopt);
}

}  // namespace
}  // namespace dormouse::agent
