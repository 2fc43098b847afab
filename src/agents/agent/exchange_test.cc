// A new catalogue while work is under way.
#include "agent/effects.h"
#include "agent/model_requests.h"
#include "agent/tool.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::agent {
namespace {

using namespace session;

Tool named_tool(std::string name, std::string gate = {}) {
    Tool tool;
    tool.name = std::move(name);
    tool.schema = Json::trusted(R"({"type":"object"})");
    tool.registers = [](Json const&) { return PauseTerms(); };
    if (!gate.empty()) tool.terms.gates = {std::move(gate)};
    return tool;
}

class HeldModel final : public Model {
public:
    Stop ask(Question, port::Fn<void(port::Delta)>, port::Fn<void(ModelOutcome)> done) override {
        held.push_back(std::move(done));
        return {};
    }
    [[nodiscard]] ModelLimits limits() const override { return {.concurrency = 1}; }

    std::vector<port::Fn<void(ModelOutcome)>> held;
};

Agent ops(std::shared_ptr<Model> model, std::vector<std::string> tools) {
    Agent agent;
    agent.id = "ops";
    agent.model = std::move(model);
    agent.tools = std::move(tools);
    return agent;
}

TEST(RegistryExchange, Lookup_FindsTheNewCatalogue) {
    Registry registry;
    registry.add(named_tool("old"));
    Registry next;
    next.add(named_tool("new"));
    registry.exchange(std::move(next));
    EXPECT_EQ(registry.tool("old"), nullptr);
    EXPECT_NE(registry.tool("new"), nullptr);
    EXPECT_FALSE(registry.collect());
}

TEST(RegistryExchange, PinnedCatalogue_StaysUntilThePinIsDropped) {
    Registry registry;
    registry.add(named_tool("old"));
    auto const alive = std::make_shared<HeldModel>();
    registry.add(ops(alive, {}));
    Tool const* const old = registry.tool("old");
    auto pin = registry.pin();
    registry.exchange({});
    registry.exchange({});
    EXPECT_TRUE(registry.collect());
    EXPECT_EQ(old->name, "old");
    EXPECT_EQ(alive.use_count(), 2);
    pin = nullptr;
    EXPECT_EQ(alive.use_count(), 2) << "only collect() destroys";
    EXPECT_FALSE(registry.collect());
    EXPECT_EQ(alive.use_count(), 1);
}

TEST(ModelRequestsExchange, RequestUnderWay_EndsAndItsCallsAreNew) {
    auto const model = std::make_shared<HeldModel>();
    Registry registry;
    registry.add(named_tool("kept"));
    registry.add(named_tool("gone"));
    registry.add(ops(model, {"kept", "gone"}));
    ModelRequests requests(registry);
    std::vector<Command::Body> outcomes;
    auto const ask = [&](std::uint32_t n) {
        requests.ask(
            *registry.agent("ops"), {SessionId::make(n, {}), "ops", {1, 2, 3, 4, 0}, {}, {n, 0}},
            [](port::Delta const&) {},
            [&](Command::Body body) { outcomes.push_back(std::move(body)); });
    };
    ask(1);
    ask(2);
    auto const another = std::make_shared<HeldModel>();
    Registry next;
    next.add(named_tool("kept", "careful"));
    next.add(ops(another, {"kept"}));
    registry.exchange(std::move(next));
    ask(3);
    EXPECT_EQ(another->held.size(), 1U) << "it does not wait for the model before";
    EXPECT_TRUE(registry.collect());
    Reply reply;
    reply.calls = {{"a", "kept", Json::trusted("{}")}, {"b", "gone", Json::trusted("{}")}};
    model->held.at(0)(std::move(reply));
    auto const& calls = std::get<ModelReply>(outcomes.at(0)).calls;
    EXPECT_EQ(calls.at(0).terms.gates, std::vector<std::string>{"careful"});
    EXPECT_EQ(calls.at(1).refused, "unknown tool 'gone'");
    ASSERT_EQ(model->held.size(), 2U) << "what waited is asked of the model before";
    EXPECT_TRUE(registry.collect());
    model->held.at(1)(Reply{});
    EXPECT_FALSE(registry.collect());
}

// Takes prompts and decisions.
class WaitingAgent final : public ExternalAgent {
public:
    void prompt(port::ModelRequest, Start, port::Fn<void(port::Delta)>,
                port::Outcome done) override {
        held.push_back(std::move(done));
    }
    void notify(SessionId, NotifyAgent const&) override { ++notified; }
    void stop(SessionId, EffectId) override { ++stopped; }
    [[nodiscard]] bool prompting(SessionId, EffectId) const override { return !held.empty(); }
    [[nodiscard]] std::string unavailable() const override { return {}; }
    [[nodiscard]] std::string refusal(std::string const&) const override { return {}; }
    void ended(SessionId) override {}
    void forget(Left, port::Fn<void(Result<void>)> done) override { done({}); }
    [[nodiscard]] Result<std::string> folder(std::string const& cwd) const override { return cwd; }
    [[nodiscard]] std::string path() const override { return {}; }
    [[nodiscard]] About about() const override { return {}; }
    [[nodiscard]] std::vector<port::NotAskingEntry> not_asking() const override { return {}; }
    void open_terminal(port::TerminalRequest, port::Fn<void(Result<port::AttachInfo>)>) override {}

    std::vector<port::Outcome> held;
    int notified = 0, stopped = 0;
};

class NoWorkers final : public port::Workers {
public:
    std::stop_source run(port::Fn<void(std::stop_token)>, port::Fn<void(bool)> done) override {
        done(false);
        return {};
    }
};

class ExternalAgentExchange : public testing::Test {
protected:
    ExternalAgentExchange() { registry.add(coder(external)); }
    static Agent coder(std::shared_ptr<ExternalAgent> external) {
        Agent agent;
        agent.id = "coder";
        agent.external = std::move(external);
        return agent;
    }
    void prompt() {
        port::ModelRequest request{session, "coder", {1, 2, 3, 4, 0}, {}, {7, 0}};
        request.external = AgentContext();
        effects.ask_model(
            std::move(request), [](port::Delta const&) {}, [this](Command::Body) { ++outcomes; });
    }
    void exchange() {
        Registry next;
        next.add(coder(another));
        registry.exchange(std::move(next));
    }

    std::shared_ptr<WaitingAgent> external = std::make_shared<WaitingAgent>();
    std::shared_ptr<WaitingAgent> another = std::make_shared<WaitingAgent>();
    SessionId session = SessionId::make(1, {});
    Registry registry;
    NoWorkers workers;
    AgentEffects effects{registry, workers};
    int outcomes = 0;
};

TEST_F(ExternalAgentExchange, PromptUnderWay_GetsItsDecisions) {
    prompt();
    exchange();
    effects.notify_agent(session, "coder", {});
    EXPECT_EQ(std::pair(external->notified, another->notified), std::pair(1, 0));
    EXPECT_EQ(effects.model_until(session, {7, 0}), Time::max());
    EXPECT_TRUE(registry.collect());
    external->held.at(0)(AgentReply{});
    EXPECT_EQ(outcomes, 1);
    EXPECT_FALSE(registry.collect());
    effects.notify_agent(session, "coder", {});
    EXPECT_EQ(another->notified, 1);
}

TEST_F(ExternalAgentExchange, StopOfAPrompt_ReachesItsAgent) {
    prompt();
    exchange();
    effects.stop(session, {7, 0});
    EXPECT_EQ(std::pair(external->stopped, another->stopped), std::pair(1, 0));
    EXPECT_FALSE(registry.collect());
    EXPECT_EQ(external.use_count(), 1);
}

}  // namespace
}  // namespace dormouse::agent
