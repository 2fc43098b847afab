#include "agent/effects.h"

#include "agent/demo.h"
#include "json/json.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace dormouse::agent {
namespace {

using namespace session;

// Runs a job when the test says so, or never.
class FakeWorkers final : public port::Workers {
public:
    std::stop_source run(port::Fn<void(std::stop_token)> job, port::Fn<void(bool)> done) override {
        std::stop_source source;
        jobs.push_back({std::move(job), std::move(done), source});
        return source;
    }
    void work(bool has_capacity = true) {
        Job one = std::move(jobs.front());
        jobs.erase(jobs.begin());
        if (has_capacity) one.job(one.source.get_token());
        one.done(has_capacity);
    }

    struct Job {
        port::Fn<void(std::stop_token)> job;
        port::Fn<void(bool)> done;
        std::stop_source source;
    };
    std::vector<Job> jobs;
};

class EffectsTest : public ::testing::Test {
protected:
    EffectsTest() { add_demo_agents(registry); }

    void add(std::string name, std::function<ToolResult(ToolCall const&, std::stop_token)> run) {
        Tool tool;
        tool.name = std::move(name);
        tool.schema = Json::trusted("{}");
        tool.run = std::move(run);
        registry.add(std::move(tool));
    }
    port::Outcome take() {
        return [this](Command::Body body) { outcomes.push_back(std::move(body)); };
    }
    void start(std::string tool, EffectId id = {7, 1}, std::uint32_t attempt = 1) {
        RunTool run{pending, attempt, std::move(tool), Json::trusted(R"({"for":"1ms"})"), {}};
        effects.run_tool(pending.session, id, "demo", std::move(run), take());
    }
    [[nodiscard]] ToolOutcome const& outcome() const {
        return std::get<ToolOutcome>(outcomes.at(0));
    }
    [[nodiscard]] std::string failure() const { return std::get<Failed>(outcome().what).message; }

    void ask(std::string agent, std::string text) {
        Json const parts = Json::trusted(R"([{"type":"text","text":")" + text + R"("}])");
        ModelView view{{{ViewMessage::Role::user, InputSource::prompt, parts, {}}}, 4};
        effects.ask_model(
            {pending.session, std::move(agent), {2, 3, 4, 5}, std::move(view)},
            [this](port::Delta delta) { deltas.push_back(delta.text); }, take());
    }

    Registry registry;
    FakeWorkers workers;
    AgentEffects effects{registry, workers};
    PendingId pending{SessionId::make(1, {}), 1, 1, {9}};
    std::vector<Command::Body> outcomes;
    std::vector<std::string> deltas;
};

TEST_F(EffectsTest, ModelReply_NamesItsRequest) {
    ask("demo", "hello");
    auto const& reply = std::get<ModelReply>(outcomes.at(0));
    EXPECT_EQ(reply.turn, 2U);
    EXPECT_EQ(reply.step, 3U);
    EXPECT_EQ(reply.attempt, 4U);
    EXPECT_EQ(reply.parts.text(), R"([{"type":"text","text":"You said: hello"}])");
    EXPECT_EQ(deltas, std::vector<std::string>{"You said: hello"});
}

TEST_F(EffectsTest, Calls_ArePrepared_NothingIsStreamedWithoutText) {
    ask("demo", "deploy A and B");
    auto const& reply = std::get<ModelReply>(outcomes.at(0));
    ASSERT_EQ(reply.calls.size(), 2U);
    EXPECT_TRUE(reply.calls[1].at_once);
    EXPECT_NE(reply.calls[0].model_id, reply.calls[1].model_id);
    EXPECT_EQ(reply.parts.text(), "[]");
    EXPECT_TRUE(deltas.empty());
}

TEST_F(EffectsTest, UnknownAgent_IsAPermanentFailure) {
    ask("nobody", "hello");
    auto const& failure = std::get<ModelFailure>(outcomes.at(0));
    EXPECT_EQ(failure.error.code, "agent_gone");
    EXPECT_FALSE(failure.may_retry);
    EXPECT_EQ(failure.attempt, 4U);
    EXPECT_FALSE(effects.terms("nobody"));
    EXPECT_TRUE(effects.terms("demo"));
}

// Asks for one permission when it is prompted.
class RequestingAgent : public ExternalAgent {
public:
    void prompt(port::ModelRequest, Start, port::Fn<void(port::Delta)>,
                port::Outcome done) override {
        AgentAsk ask;
        ask.spec.tool = "acp:execute";
        ask.spec.input = Json::trusted(R"({"a":1})");
        if (says) ask.spec.shown = sha256("shown");
        ask.terms.reason = PauseReason::approval;
        ask.terms.message = "Run it";
        ask.names = {"acp:bash"};
        done(std::move(ask));
    }
    void notify(SessionId, NotifyAgent const&) override {}
    void stop(SessionId, EffectId) override {}
    [[nodiscard]] bool prompting(SessionId, EffectId) const override { return false; }
    [[nodiscard]] std::string unavailable() const override { return {}; }
    [[nodiscard]] std::string refusal(std::string const&) const override { return {}; }
    void ended(SessionId) override {}
    void forget(Left, port::Fn<void(Result<void>)> done) override { done({}); }
    [[nodiscard]] Result<std::string> folder(std::string const& cwd) const override { return cwd; }
    [[nodiscard]] std::string path() const override { return {}; }
    [[nodiscard]] About about() const override { return {}; }
    [[nodiscard]] std::vector<port::NotAskingEntry> not_asking() const override { return {}; }
    void open_terminal(port::TerminalRequest, port::Fn<void(Result<port::AttachInfo>)>) override {}

    bool says = true;
};

// Returns the digest of what an approval of the agent's request covers, with these gates.
std::optional<Sha256> shown_with(std::vector<PauseTerms> const& asks, bool says = true) {
    Registry registry;
    auto const external = std::make_shared<RequestingAgent>();
    external->says = says;
    Agent agent;
    agent.id = "coder";
    agent.external = external;
    registry.add(std::move(agent));
    for (std::size_t i = 0; i < asks.size(); ++i) {
        Gate gate{"gate" + std::to_string(i),
                  [terms = asks[i]](GateCall const&) -> GateDecision { return terms; },
                  {"acp:bash"}};
        registry.add(std::move(gate));
    }
    FakeWorkers workers;
    AgentEffects effects{registry, workers};
    port::ModelRequest request;
    request.agent = "coder";
    request.external.emplace();
    std::optional<AgentAsk> agent_ask;
    effects.ask_model(
        std::move(request), [](port::Delta const&) {},
        [&](Command::Body body) { agent_ask = std::get<AgentAsk>(std::move(body)); });
    return agent_ask ? agent_ask->spec.shown : std::nullopt;
}

TEST_F(EffectsTest, Permission_DeniedByGate_ReportsReason) {
    auto const denied = [](std::function<GateDecision()> decide) {
        Registry registry;
        Agent agent;
        agent.id = "coder";
        agent.external = std::make_shared<RequestingAgent>();
        registry.add(std::move(agent));
        registry.add(
            Gate{"first", [](GateCall const&) -> GateDecision { return Allow{}; }, {"acp:bash"}});
        registry.add(Gate{"night", [decide](GateCall const&) { return decide(); }, {"acp:bash"}});
        FakeWorkers workers;
        AgentEffects effects{registry, workers};
        port::ModelRequest request;
        request.agent = "coder";
        request.external.emplace();
        std::string why;
        effects.ask_model(
            std::move(request), [](port::Delta const&) {},
            [&](Command::Body body) { why = std::get<AgentAsk>(std::move(body)).denied; });
        return why;
    };
    EXPECT_EQ(denied([]() -> GateDecision { return Deny{"not at night"}; }), "not at night");
    EXPECT_EQ(denied([]() -> GateDecision { return Deny{}; }), "denied by night");
    EXPECT_EQ(denied([]() -> GateDecision { throw std::runtime_error("no clock"); }),
              "the gate 'night' threw: no clock");
    EXPECT_EQ(denied([]() -> GateDecision { return Allow{}; }), "");
}

TEST_F(EffectsTest, Permission_DigestCoversQuestionAndPeople) {
    auto const asks = [](std::string const& message, std::vector<std::string> from = {}) {
        PauseTerms terms;
        terms.reason = PauseReason::approval;
        terms.message = message;
        terms.answer.from = std::move(from);
        return terms;
    };
    auto const plain = shown_with({asks("Run it?", {"alice"})});
    ASSERT_TRUE(plain);
    PauseTerms later = asks("Run it?", {"alice"});
    later.timeout = Duration(5'000);
    EXPECT_EQ(shown_with({later}), plain) << "the deadline does not count";
    EXPECT_NE(shown_with({}), plain);
    EXPECT_NE(shown_with({asks("Run it?", {"bob"})}), plain);
    EXPECT_NE(shown_with({asks("Run it?")}), plain);
    EXPECT_NE(shown_with({asks("Delete it?", {"alice"})}), plain);
    EXPECT_NE(shown_with({asks("Run it?", {"alice"}), asks("Really?")}), plain);
    PauseTerms two = asks("Run it?", {"alice"});
    two.answer.need = 2;
    EXPECT_NE(shown_with({two}), plain);
    two.answer.need = 1;
    two.answer.forbid_requester = true;
    EXPECT_NE(shown_with({two}), plain);
    EXPECT_FALSE(shown_with({asks("Run it?", {"alice"})}, false))
        << "the request has too few details";
}

TEST_F(EffectsTest, Tool_RunsOnWorker_OutcomeNamesAttempt) {
    start("sleepy", {7, 1}, 3);
    EXPECT_TRUE(outcomes.empty());
    workers.work();
    EXPECT_EQ(outcome().pending, pending);
    EXPECT_EQ(outcome().attempt, 3U);
    EXPECT_EQ(std::get<Done>(outcome().what).output.text(), "\"slept 1ms\"");
    EXPECT_EQ(outcome().digest, sha256(R"({"output":"slept 1ms"})"));
}

TEST_F(EffectsTest, Output_IsStoredWithoutLineBreaks) {
    add("loose", [](ToolCall const&, std::stop_token) -> ToolResult {
        return Done{Json::trusted("{\n  \"a\": 1\n}"), "Title", Json::trusted("[ 1 ]")};
    });
    start("loose");
    workers.work();
    auto const& done = std::get<Done>(outcome().what);
    EXPECT_EQ(done.output.text(), R"({"a":1})");
    EXPECT_EQ(done.title, "Title");
    EXPECT_EQ(done.metadata.text(), "[1]");
    EXPECT_EQ(outcome().digest, sha256(R"({"output":{"a":1}})"));
}

TEST_F(EffectsTest, ToolThrowsException_IsItsError) {
    add("throws", [](ToolCall const&, std::stop_token) -> ToolResult {
        throw std::runtime_error("no disk");
    });
    start("throws");
    workers.work();
    EXPECT_EQ(failure(), "the tool threw: no disk");
}

TEST_F(EffectsTest, ToolThrowsOther_IsItsError) {
    add("throws", [](ToolCall const&, std::stop_token) -> ToolResult { throw 7; });
    start("throws");
    workers.work();
    EXPECT_EQ(failure(), "the tool threw a value that is not an exception");
}

TEST_F(EffectsTest, PausedTool_OutcomeHasPauseTerms) {
    add("pauses", [](ToolCall const&, std::stop_token) -> ToolResult {
        PauseTerms pause;
        pause.external_ref = "run-1";
        return pause;
    });
    start("pauses");
    workers.work();
    EXPECT_EQ(std::get<PauseTerms>(outcome().what).external_ref, "run-1");
}

TEST_F(EffectsTest, RegisteringTool_CanBeRun) {
    start("deploy");
    workers.work();
    EXPECT_TRUE(std::holds_alternative<PauseTerms>(outcome().what));
}

// A tool that finds no worker has no outcome: full_queue_test.cc.
TEST_F(EffectsTest, Tool_Unknown_Fails) {
    start("vanished");
    EXPECT_NE(failure().find("'vanished'"), std::string::npos);
}

TEST_F(EffectsTest, StoppedTool_SeesStop_OthersDoNot) {
    bool first = false;
    bool second = false;
    add("one", [&](ToolCall const&, std::stop_token stop) -> ToolResult {
        effects.stop(pending.session, {7, 1});
        first = stop.stop_requested();
        return Done{};
    });
    add("two", [&](ToolCall const&, std::stop_token stop) -> ToolResult {
        second = stop.stop_requested();
        return Done{};
    });
    start("one", {7, 1});
    start("two", {7, 2});
    effects.stop(pending.session, {99, 1});  // unknown: nothing happens
    workers.work();
    workers.work();
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
    effects.stop(pending.session, {7, 1});  // it has ended
    EXPECT_EQ(outcomes.size(), 2U);
}

TEST_F(EffectsTest, ToolStoppedBeforeItsThread_DoesNotRunAndHasNoOutcome) {
    int runs = 0;
    add("counts", [&](ToolCall const&, std::stop_token const&) -> ToolResult {
        ++runs;
        return Done{};
    });
    start("counts");
    effects.stop(pending.session, {7, 1});
    start("counts");  // the same effect, after a fall of the store
    workers.work();
    EXPECT_EQ(runs, 0);
    EXPECT_TRUE(outcomes.empty());
    workers.work();
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(outcomes.size(), 1U);
}

// The process may have been declared dead while the tool waited for a thread.
TEST_F(EffectsTest, ToolThatMustNotStartAnyMore_DoesNotRunAndIsTriedAgain) {
    bool may = true;
    AgentEffects waiting(registry, workers,
                         {.may_start = [&may] { return [&may] { return may; }; }});
    int runs = 0;
    add("counts", [&](ToolCall const&, std::stop_token const&) -> ToolResult {
        ++runs;
        return Done{};
    });
    for (bool const later : {false, true}) {
        may = true;
        RunTool run{pending, 1, "counts", Json::trusted("{}"), {}};
        waiting.run_tool(pending.session, {7, 1}, "demo", std::move(run), take());
        may = later;
        workers.work();
    }
    EXPECT_EQ(runs, 1);
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_TRUE(std::get<Failed>(outcome().what).nothing_done);
    EXPECT_TRUE(std::holds_alternative<Done>(std::get<ToolOutcome>(outcomes[1]).what));
}

TEST_F(EffectsTest, GateDecision_IsItsOutcome) {
    std::vector<GateDecision> const decisions{Allow{}, Allow{Json::trusted(R"({"a":1})")},
                                              Deny{"denied: no"}, PauseTerms()};
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        std::string const name = "gate" + std::to_string(i);
        registry.add(Gate{name, [decision = decisions[i]](GateCall const&) { return decision; }});
        effects.ask_gate(pending.session, {7, 1}, "demo",
                         {1, name, "deploy", Json::trusted("{}"), {}}, take());
        EXPECT_EQ(std::get<GateOutcome>(outcomes.back()).gate, name);
    }
    auto const what = [&](std::size_t i) { return std::get<GateOutcome>(outcomes.at(i)).what; };
    EXPECT_FALSE(std::get<GateOutcome::Allow>(what(0)).input);
    EXPECT_EQ(std::get<GateOutcome::Allow>(what(1)).input_digest, sha256(R"({"a":1})"));
    EXPECT_EQ(std::get<GateOutcome::Deny>(what(2)).message, "denied: no");
    EXPECT_TRUE(std::holds_alternative<PauseTerms>(what(3)));
}

// Effects of a process whose heartbeats may fail while they wait.
class WaitingEffects : public EffectsTest {
protected:
    // Returns the report of an effect if the heartbeats have failed before it may begin.
    std::string refused(std::function<void(AgentEffects&, port::Outcome)> const& start) {
        may = true;
        AgentEffects waiting(registry, workers,
                             {.may_start = [this] { return [this] { return may; }; },
                              .not_begun =
                                  [this](SessionId session, EffectId id) {
                                      EXPECT_EQ(session, pending.session);
                                      not_begun.push_back(id.call);
                                  }});
        start(waiting, take());
        may = false;
        if (!workers.jobs.empty()) workers.work();
        auto const forgotten = std::exchange(not_begun, {}).size();
        return std::to_string(forgotten) + " forgotten, " + std::to_string(outcomes.size()) +
               " outcomes";
    }
    bool may = true;
    std::vector<CallNo> not_begun;
};

TEST_F(WaitingEffects, GateThatMustNotBegin_IsNotAskedAndForgotten) {
    Gate gate{.name = "approve", .may_block = true};
    gate.decide = [](GateCall const&) -> GateDecision {
        ADD_FAILURE() << "asked";
        return Allow{};
    };
    registry.add(std::move(gate));
    auto const ask = [this](AgentEffects& waiting, port::Outcome done) {
        waiting.ask_gate(pending.session, {7, 1}, "demo",
                         {1, "approve", "deploy", Json::trusted("{}"), {}}, std::move(done));
    };
    EXPECT_EQ(refused(ask), "1 forgotten, 0 outcomes");
    auto const ask_and_stop = [&](AgentEffects& waiting, port::Outcome done) {
        ask(waiting, std::move(done));
        waiting.stop(pending.session, {7, 1});
    };
    EXPECT_EQ(refused(ask_and_stop), "0 forgotten, 0 outcomes");
}

TEST_F(WaitingEffects, InterceptorsThatMustNotBegin_AreForgotten) {
    MayStart given;
    port::Fn<void(std::optional<TurnOutcome>)> answer;
    registry.set([&](port::TurnRequest const&, MayStart may_start,
                     port::Fn<void(std::optional<TurnOutcome>)> done) -> StopTool {
        given = std::move(may_start);
        answer = std::move(done);
        return {};
    });
    AgentEffects waiting(
        registry, workers,
        {.may_start = [this] { return [this] { return may; }; },
         .not_begun = [this](SessionId, EffectId id) { not_begun.push_back(id.call); }});
    port::TurnRequest request;
    request.session = pending.session;
    request.ask.names = {"one"};
    waiting.ask_turn(std::move(request), take());
    EXPECT_TRUE(given.still());
    may = false;
    EXPECT_FALSE(given.still());
    answer(std::nullopt);
    EXPECT_EQ(not_begun.size(), 1U);
    EXPECT_TRUE(outcomes.empty());
}

TEST_F(WaitingEffects, PromptThatMustNotBegin_IsForgotten) {
    class Refusing final : public RequestingAgent {
        void prompt(port::ModelRequest, Start start, port::Fn<void(port::Delta)>,
                    port::Outcome) override {
            EXPECT_TRUE(start.may.still());
            start.refused();
        }
    };
    Agent agent;
    agent.id = "coder";
    agent.external = std::make_shared<Refusing>();
    registry.add(std::move(agent));
    EXPECT_EQ(refused([&](AgentEffects& waiting, port::Outcome done) {
                  port::ModelRequest request;
                  request.session = pending.session;
                  request.agent = "coder";
                  request.external = AgentContext{};
                  waiting.ask_model(std::move(request), [](port::Delta const&) {}, std::move(done));
              }),
              "1 forgotten, 0 outcomes");
}

TEST_F(EffectsTest, UnknownGate_IsReportedAsGone) {
    effects.ask_gate(pending.session, {7, 1}, "demo", {1, "vanished", "deploy", {}, {}}, take());
    EXPECT_TRUE(
        std::holds_alternative<GateOutcome::Gone>(std::get<GateOutcome>(outcomes.at(0)).what));
}

// A tool that runs on the loop, controlled by the test.
class StartedToolTest : public EffectsTest {
protected:
    StartedToolTest() {
        Tool tool;
        tool.name = "remote";
        tool.schema = Json::trusted("{}");
        tool.terms.may_pause = {PauseReason::tool_result};
        tool.terms.pause_timeout = Duration(5'000);
        tool.start = [this](ToolCall call, port::Fn<void(ToolResult)> done) -> StopTool {
            calls.push_back(std::move(call));
            if (at_once) {
                done(*at_once);
                return {};
            }
            ends = std::move(done);
            return [this] { ++stops; };
        };
        registry.add(std::move(tool));
    }
    std::vector<ToolCall> calls;
    std::optional<ToolResult> at_once;
    port::Fn<void(ToolResult)> ends;
    int stops = 0;
};

TEST_F(StartedToolTest, NeedsNoWorker_OutcomeComesLater) {
    start("remote");
    EXPECT_TRUE(workers.jobs.empty());
    EXPECT_TRUE(outcomes.empty());
    ends(Done{Json::trusted("1")});
    EXPECT_TRUE(std::holds_alternative<Done>(outcome().what));
    effects.stop(pending.session, {7, 1});
    EXPECT_EQ(stops, 0) << "an ended call is not stopped";
}

TEST_F(StartedToolTest, OutcomeBeforeStartReturns_Counts) {
    at_once = Failed{"no"};
    start("remote");
    EXPECT_EQ(failure(), "no");
    effects.stop(pending.session, {7, 1});
    EXPECT_EQ(stops, 0);
}

TEST_F(StartedToolTest, Stop_EndsItOnceWithoutOutcome) {
    start("remote");
    effects.stop(pending.session, {7, 1});
    effects.stop(pending.session, {7, 1});
    EXPECT_EQ(stops, 1);
    ends(Done{});
    EXPECT_TRUE(outcomes.empty());
}

TEST_F(StartedToolTest, LostAndNothingDone_AreReported) {
    start("remote");
    ends(InDoubt{"silence", Duration(9)});
    auto const* lost = std::get_if<InDoubt>(&outcome().what);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->message, "silence");
    EXPECT_EQ(lost->retry_after, Duration(9));
    outcomes.clear();
    start("remote");
    ends(Failed{"busy", true});
    EXPECT_TRUE(std::get<Failed>(outcome().what).nothing_done);
}

TEST_F(StartedToolTest, Call_HasItsUrlAndDeadline) {
    start("remote", {7, 1}, 3);
    EXPECT_EQ(calls.at(0).attempt, 3U);
    EXPECT_EQ(calls.at(0).tool, "remote");
    EXPECT_EQ(calls.at(0).callback_url, "");
    EXPECT_EQ(calls.at(0).deadline, std::nullopt);
    EXPECT_EQ(calls.at(0).idempotency_key(), pending.text());
    AgentEffects placed(registry, workers,
                        {[](PendingId const& id) { return "https://h/c/" + id.text(); },
                         [] { return from_ms(1'000); }});
    placed.run_tool(pending.session, {8, 1}, "demo",
                    RunTool{pending, 1, "remote", Json::trusted("{}"), {}}, take());
    EXPECT_EQ(calls.at(1).callback_url, "https://h/c/" + pending.text());
    EXPECT_EQ(calls.at(1).deadline, from_ms(6'000));
}

class PolledToolTest : public EffectsTest {
protected:
    PolledToolTest() {
        Tool tool;
        tool.name = "remote";
        tool.schema = Json::trusted("{}");
        tool.start = [](ToolCall const&, port::Fn<void(ToolResult)>) { return StopTool(); };
        tool.poll = [this](PollCall const& call, port::Fn<void(PollResult)> done) -> StopTool {
            poll_request = call;
            answer = std::move(done);
            return [this] { ++stops; };
        };
        registry.add(std::move(tool));
    }
    void poll(std::string tool = "remote") {
        effects.poll_tool(pending.session, {7, 1}, "demo",
                          {pending, std::move(tool), Json::trusted("{}"), "run-1"}, take());
    }
    [[nodiscard]] PollOutcome const& polled() const {
        return std::get<PollOutcome>(outcomes.at(0));
    }
    PollCall poll_request;
    port::Fn<void(PollResult)> answer;
    int stops = 0;
};

TEST_F(PolledToolTest, Poll_AnswerNamesThePoll) {
    poll();
    EXPECT_EQ(poll_request.external_ref, "run-1");
    EXPECT_EQ(poll_request.pending, pending);
    answer(Done{Json::trusted(R"({"a": 1})")});
    EXPECT_EQ(polled().since, 7U);
    EXPECT_EQ(std::get<Done>(polled().what).output.text(), R"({"a":1})");
    EXPECT_EQ(polled().digest, sha256(R"({"output":{"a":1}})"))
        << "like the digest of a submission";
    answer(Done{Json::trusted("2")});
    EXPECT_EQ(outcomes.size(), 1U) << "once";
}

TEST_F(PolledToolTest, Stop_EndsThePoll) {
    poll();
    effects.stop(pending.session, {7, 1});
    EXPECT_EQ(stops, 1);
    answer(NotYet{});
    EXPECT_TRUE(outcomes.empty());
}

TEST_F(PolledToolTest, UnknownToolOrNoPoll_IsNotYet) {
    poll("vanished");
    EXPECT_NE(std::get<NotYet>(polled().what).error.find("'vanished'"), std::string::npos);
    poll("sleepy");
    EXPECT_FALSE(std::get<NotYet>(std::get<PollOutcome>(outcomes.at(1)).what).error.empty());
}

}  // namespace
}  // namespace dormouse::agent
