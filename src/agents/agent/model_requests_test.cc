#include "agent/model_requests.h"

#include "json/json.h"
#include "session/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::agent {
namespace {

using namespace session;
using testing::ElementsAre;

// A model that answers when the test says so.
class SlowModel final : public Model {
public:
    struct Request {
        Question question;
        port::Fn<void(port::Delta)> delta;
        port::Fn<void(ModelOutcome)> done;
    };

    Stop ask(Question question, port::Fn<void(port::Delta)> delta,
             port::Fn<void(ModelOutcome)> done) override {
        received.push_back({std::move(question), std::move(delta), std::move(done)});
        return [this, n = received.size() - 1] { stopped.push_back(n); };
    }
    ModelLimits limits() const override {
        return {.concurrency = 2, .retries = retries_max, .time_limit = limit};
    }

    std::vector<Request> received;
    std::vector<std::size_t> stopped;
    std::uint32_t retries_max = 3;
    Duration limit = limits::model_time_limit;
};

class ModelRequestsTest : public testing::Test {
protected:
    ModelRequestsTest() {
        Tool tool;
        tool.name = "deploy";
        tool.description = "Deploys.";
        tool.schema = Json::trusted(R"({"type":"object","required":["target"]})");
        tool.terms.may_pause = {PauseReason::tool_result};
        tool.registers = [](Json const&) { return PauseTerms(); };
        registry.add(std::move(tool));
        Agent agent;
        agent.id = "ops";
        agent.model = model;
        agent.tools = {"deploy"};
        agent.instructions = "Be brief.";
        registry.add(std::move(agent));
    }

    // Asks for session n; its outcome becomes outcomes[n].
    void ask(std::uint32_t n) {
        port::ModelRequest request{session(n), "ops", {1, 2, 3, 4, failures}, {}, {n, 0}};
        requests.ask(
            *registry.agent("ops"), std::move(request),
            [this](port::Delta const& delta) { deltas.push_back(delta.text); },
            [this, n](Command::Body body) {
                order.push_back(n);
                outcomes.emplace(n, std::move(body));
            });
    }
    void stop(std::uint32_t n) { requests.stop(session(n), {n, 0}); }
    static SessionId session(std::uint32_t n) { return SessionId::make(n, {}); }
    [[nodiscard]] ModelReply const& reply(std::uint32_t n) const {
        return std::get<ModelReply>(outcomes.at(n));
    }

    std::shared_ptr<SlowModel> model = std::make_shared<SlowModel>();
    Registry registry;
    Time now = from_ms(1'800'000'000'000);
    ModelRequests requests{registry, [this] { return now; }};
    std::uint32_t failures = 0;
    std::vector<std::string> deltas;
    std::vector<std::uint32_t> order;
    std::map<std::uint32_t, Command::Body> outcomes;
};

TEST_F(ModelRequestsTest, Question_HasInstructionsAndToolsOfTheAgent) {
    ask(1);
    Question const& question = model->received.at(0).question;
    EXPECT_EQ(question.instructions, "Be brief.");
    ASSERT_EQ(question.tools().size(), 1U);
    EXPECT_EQ(question.tools()[0].name, "deploy");
    EXPECT_EQ(question.tools()[0].description, "Deploys.");
    EXPECT_EQ(question.tools()[0].schema, registry.tool("deploy")->schema);
}

TEST_F(ModelRequestsTest, RequestThatMustNotBeginAnyMore_IsTriedAgain) {
    bool may = true;
    ModelRequests some(registry, {}, {}, [&may] { return [&may] { return may; }; });
    std::vector<std::string> ended;
    for (std::uint32_t n = 1; n <= 4; ++n) {
        port::ModelRequest request{session(n), "ops", {1, 2, 3, 4, 0}, {}, {n, 0}};
        some.ask(*registry.agent("ops"), std::move(request), {}, [&ended](Command::Body body) {
            auto const* const failure = std::get_if<ModelFailure>(&body);
            ended.emplace_back(!failure ? "reply" : failure->may_retry ? "again" : "failure");
        });
    }
    ASSERT_EQ(model->received.size(), 2U);
    may = false;
    model->received[0].done(Reply{});
    EXPECT_THAT(ended, ElementsAre("reply", "again", "again"));
    EXPECT_EQ(model->received.size(), 2U);
    EXPECT_EQ(some.waiting(*model), 0U);
    EXPECT_EQ(some.running(*model), 1U);
}

TEST_F(ModelRequestsTest, Reply_NamesItsRequest) {
    ask(1);
    model->received[0].delta({port::Delta::Kind::text, "so"});
    Reply answer;
    answer.text = "so be it";
    answer.reasoning = "hm";
    answer.calls = {{"a", "deploy", Json::trusted(R"({"target":"x"})")},
                    {"b", "deploy", Json::trusted("{}")},
                    {"c", "deploy", Json::trusted(R"("{\"targ")"), "it ends too early"}};
    answer.usage = {3, 4, 1};
    model->received[0].done(std::move(answer));
    EXPECT_THAT(deltas, ElementsAre("so"));
    EXPECT_EQ(reply(1).step, 2U);
    EXPECT_EQ(reply(1).attempt, 3U);
    EXPECT_EQ(reply(1).parts.text(),
              R"([{"type":"reasoning","text":"hm"},{"type":"text","text":"so be it"}])");
    EXPECT_EQ(reply(1).usage, (Usage{3, 4, 1}));
    ASSERT_EQ(reply(1).calls.size(), 3U);
    EXPECT_TRUE(reply(1).calls[0].at_once);
    EXPECT_TRUE(reply(1).calls[1].refused);
    EXPECT_EQ(reply(1).calls[2].refused, "the arguments cannot be read: it ends too early");
    EXPECT_FALSE(reply(1).calls[2].at_once);
}

TEST_F(ModelRequestsTest, Failure_HasRetryTerms) {
    ask(1);
    model->received[0].done(ModelTrouble{{"model_failed", "busy"}, true, Duration(7'000)});
    auto const& failure = std::get<ModelFailure>(outcomes.at(1));
    EXPECT_EQ(failure.turn, 1U);
    EXPECT_EQ(failure.step, 2U);
    EXPECT_EQ(failure.attempt, 3U);
    EXPECT_EQ(failure.error, (Trouble{"model_failed", "busy"}));
    EXPECT_TRUE(failure.may_retry);
    EXPECT_EQ(failure.retry_after, Duration(7'000));
}

TEST_F(ModelRequestsTest, Failure_AfterRetries_IsPermanent) {
    model->retries_max = 2;
    failures = 2;
    ask(1);
    model->received[0].done(ModelTrouble{{"model_failed", "busy"}, true, Duration(7'000)});
    EXPECT_FALSE(std::get<ModelFailure>(outcomes.at(1)).may_retry);
}

TEST_F(ModelRequestsTest, CutOffAttempts_AreNotRetries) {
    model->retries_max = 2;  // this is attempt 3; a crash cut off the earlier ones
    failures = 1;
    ask(1);
    model->received[0].done(ModelTrouble{{"model_failed", "busy"}, true, {}});
    EXPECT_TRUE(std::get<ModelFailure>(outcomes.at(1)).may_retry);
}

TEST_F(ModelRequestsTest, TimeLimit_StartsWhenTheRequestIsSent) {
    for (std::uint32_t n = 1; n <= 3; ++n) ask(n);
    auto const until = [&](std::uint32_t n) { return requests.until(session(n), {n, 0}); };
    constexpr Duration slack{10'000};
    EXPECT_EQ(until(1), now + limits::model_time_limit + slack) << "its own limit comes first";
    EXPECT_EQ(until(3), Time::max()) << "it waits";
    now += Duration(3'600'000);
    model->received[0].done(Reply());
    EXPECT_EQ(until(3), now + limits::model_time_limit + slack);
    EXPECT_EQ(until(1), std::nullopt);
    model->limit = 2 * limits::model_time_limit;
    EXPECT_EQ(until(3), now + 2 * limits::model_time_limit + slack);
}

TEST_F(ModelRequestsTest, RequestsBeyondConcurrency_WaitOldestFirst) {
    for (std::uint32_t n = 1; n <= 5; ++n) ask(n);
    EXPECT_EQ(model->received.size(), 2U);
    EXPECT_EQ(requests.waiting(*model), 3U);
    EXPECT_EQ(requests.running(*model), 2U);
    model->received[1].done(Reply());
    EXPECT_EQ(model->received.size(), 3U);
    model->received[2].done(Reply());
    model->received[3].done(Reply());
    model->received[4].done(Reply());
    model->received[0].done(Reply());
    EXPECT_EQ(requests.waiting(*model), 0U);
    EXPECT_EQ(requests.running(*model), 0U);
    EXPECT_THAT(order, ElementsAre(2, 3, 4, 5, 1));
}

TEST_F(ModelRequestsTest, Stop_AbortsRunningRequestAndStartsNext) {
    for (std::uint32_t n = 1; n <= 4; ++n) ask(n);
    stop(3);  // waits
    EXPECT_EQ(requests.waiting(*model), 1U);
    stop(1);  // runs
    EXPECT_THAT(model->stopped, ElementsAre(0));
    EXPECT_EQ(model->received.size(), 3U);
    model->received[0].delta({port::Delta::Kind::text, "late"});
    model->received[0].done(Reply());
    EXPECT_TRUE(outcomes.empty());
    EXPECT_TRUE(deltas.empty());
    model->received[2].done(Reply());
    EXPECT_THAT(order, ElementsAre(4));
    stop(4);  // ended
    stop(9);  // never was
    EXPECT_THAT(model->stopped, ElementsAre(0));
}

TEST_F(ModelRequestsTest, Destructor_StopsRunningRequests) {
    {
        ModelRequests short_lived(registry);
        short_lived.ask(
            *registry.agent("ops"), {session(1), "ops", {}, {}, {}}, [](auto const&) {},
            [](auto const&) { FAIL(); });
    }
    EXPECT_THAT(model->stopped, ElementsAre(0));
    model->received[0].done(Reply());
}

}  // namespace
}  // namespace dormouse::agent
