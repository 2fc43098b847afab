#include "agent/model.h"
#include "base/test_wait.h"
#include "port/http.h"
#include "runtime/models.h"
#include "runtime/testing/runtime_fixture.h"

#include <condition_variable>
#include <mutex>
#include <stdexcept>

// Tests the questions that a model function gets, and the answers that it may give.
namespace dormouse::runtime {
namespace {

class ModelFunctionTest : public RuntimeTest {
protected:
    // Answers the first question with `first`, and later ones with "Done.".
    void answer_with(ModelAnswer first) {
        settings.agents[0].model =
            model_from([this, first](ModelQuestion const& question, std::stop_token const&) {
                std::lock_guard const lock(mutex);
                questions.push_back(question);
                return questions.size() == 1 ? first : ModelAnswer{"Done.", {}};
            });
    }

    std::size_t question_count() {
        std::lock_guard const lock(mutex);
        return questions.size();
    }

    std::mutex mutex;
    std::vector<ModelQuestion> questions;
};

TEST_F(ModelFunctionTest, Tools_ComeWithDescriptionAndSchema_BuiltInOnesToo) {
    answer_with({"Hello.", {}});
    settings.agents.push_back(
        {.name = "helper", .model = script.model(), .description = "Helps with everything."});
    settings.agents[0].tools = {"job", "agent:helper", "background_task"};
    open();
    start("hello");
    ASSERT_EQ(questions.size(), 1U);
    auto const& tools = questions[0].tools;
    ASSERT_EQ(tools.size(), 3U);
    EXPECT_EQ(tools[0].name, "job");
    EXPECT_TRUE(tools[0].description.contains("may take long"));
    EXPECT_EQ(tools[0].input_schema, schema_of<Work>());
    EXPECT_TRUE(tools[1].description.contains("Helps with everything."));
    EXPECT_TRUE(tools[1].input_schema.text().contains("prompt"));
    EXPECT_TRUE(tools[2].input_schema.text().contains("properties"));
}

TEST_F(ModelFunctionTest, Calls_KeepTheModelsIdsAndEachIdOccursOnce) {
    answer_with(
        {"",
         {{"now", input("A"), "toolu_7"}, {"now", input("B"), "toolu_7"}, {"now", input("C")}}});
    open();
    start("hello");
    ASSERT_EQ(questions.size(), 2U);
    auto const& calls = questions[1].messages.at(1).calls;
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[0].id, "toolu_7");
    EXPECT_EQ(calls[0].output, output("A"));
    EXPECT_EQ(calls[1].id, "call_2");
    EXPECT_EQ(calls[1].output, output("B"));
    EXPECT_EQ(calls[2].id, "call_3");
    EXPECT_EQ(questions[1].asked(), "hello");
}

TEST_F(ModelFunctionTest, LateOutcome_NamesItsCall) {
    answer_with({"", {{"job", input("A"), "toolu_1"}}});
    open();
    auto const asleep = start("hello");
    ASSERT_EQ(asleep.pending.size(), 1U);
    // First the model must have seen the placeholder.
    ASSERT_TRUE(runtime->prompt(asleep.id, "And?", {.when = PromptMode::steer}));
    wait_while([&] { return question_count() < 2; });
    at_rest(asleep.id);
    ASSERT_TRUE(runtime->submit(job, asleep.pending[0].id, {"live"}));
    at_rest(asleep.id);
    TranscriptMessage const* late = nullptr;
    ASSERT_FALSE(questions.empty());
    for (auto const& message : questions.back().messages) {
        if (message.late) late = &message;
    }
    ASSERT_NE(late, nullptr);
    EXPECT_EQ(late->role, TranscriptMessage::Role::user);
    EXPECT_TRUE(late->text.empty());
    ASSERT_EQ(late->calls.size(), 1U);
    EXPECT_EQ(late->calls[0].id, "toolu_1");
    EXPECT_EQ(late->calls[0].output, output("live"));
    EXPECT_TRUE(late_text(late->calls[0]).contains("toolu_1 (job {\"target\":\"A\"})"));
    EXPECT_TRUE(late_text(late->calls[0]).contains("live"));
}

TEST_F(ModelFunctionTest, FinishAndTokens_AreKept) {
    answer_with({.text = "Half of",
                 .calls = {},
                 .input_tokens = 10,
                 .output_tokens = 5,
                 .finish = ModelFinish::length,
                 .cached_tokens = 8,
                 .reasoning_tokens = 3});
    open();
    auto const session = start("hello");
    std::string replied, ended;
    auto const all_of_them = runtime->events(session.id).value();
    for (Event const& event : all_of_them) {
        if (event.type == "model_replied") replied = event.data.text();
        if (event.type == "turn_ended") ended = event.data.text();
    }
    EXPECT_TRUE(ended.contains("length")) << ended;
    EXPECT_TRUE(replied.contains("\"cachedTokens\":8")) << replied;
    EXPECT_TRUE(replied.contains("\"reasoningTokens\":3")) << replied;
}

TEST_F(ModelFunctionTest, ModelThatThrows_EndsTheTurnAtTheFirstAttempt) {
    std::atomic<int> question_count = 0;
    settings.agents[0].model =
        model_from([&](ModelQuestion const&, std::stop_token const&) -> Result<ModelAnswer> {
            ++question_count;
            throw std::runtime_error("no idea");
        });
    open();
    auto const session = start("hello");
    EXPECT_EQ(question_count, 1);
    EXPECT_EQ(count(session.id, "turn_ended"), 1U);
}

TEST_F(ModelFunctionTest, InterceptorThatThrows_EndsTheTurnAtTheFirstAttempt) {
    std::atomic<int> question_count = 0;
    settings.agents[0].model = script.model().through(
        {.name = "broken", .before = [&](ModelQuestion&) -> Result<std::optional<ModelAnswer>> {
             ++question_count;
             throw std::runtime_error("no idea");
         }});
    open();
    auto const session = start("hello");
    EXPECT_EQ(question_count, 1);
    EXPECT_EQ(count(session.id, "turn_ended"), 1U);
}

// A model with limits of its own, which is never asked.
class LimitedModel final : public agent::Model {
public:
    Stop ask(agent::Question, port::Fn<void(port::Delta)>,
             port::Fn<void(agent::ModelOutcome)>) override {
        ADD_FAILURE() << "it was asked";
        return {};
    }
    agent::ModelLimits limits() const override {
        return {.concurrency = 2,
                .retries = 3,
                .request_tokens = 4'000,
                .time_limit = Duration(1'800'000)};
    }
};

// The services that the plan needs to make the model; they do nothing.
struct NoMeans final : port::HttpClient, port::Clock, port::Workers {
    port::HttpId start(port::HttpRequest, port::HttpCallbacks) override { return {}; }
    void cancel(port::HttpId) override {}
    Time now() const override { return {}; }
    Duration monotonic() const override { return {}; }
    std::stop_source run(port::Fn<void(std::stop_token)>, port::Fn<void(bool)>) override {
        return {};
    }
};

TEST(InterceptedModelTest, Limits_AreThoseOfTheModel) {
    auto plan = std::make_shared<detail::ModelPlan>();
    plan->make = [](ModelServices const&) -> Result<std::shared_ptr<agent::Model>> {
        return std::make_shared<LimitedModel>();
    };
    NoMeans none;
    auto const made = Model(plan)
                          .through({.name = "watch"})
                          .plan()
                          ->make({none, none, none, nullptr, std::stop_token{}});
    ASSERT_TRUE(made);
    auto const limits = (*made)->limits();
    EXPECT_EQ(limits.concurrency, 2U);
    EXPECT_EQ(limits.retries, 3U);
    EXPECT_EQ(limits.request_tokens, 4'000U);
    EXPECT_EQ(limits.time_limit, Duration(1'800'000));
}

// Keeps the promises of its questions.
class Later {
public:
    Model model() {
        return async_model_from([this](ModelQuestion const&, ModelPromise promise) {
            std::lock_guard const lock(mutex_);
            promises_.push_back(std::move(promise));
            changed_.notify_all();
        });
    }
    std::vector<ModelPromise> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return promises_.size() >= count; });
        return std::exchange(promises_, {});
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<ModelPromise> promises_;
};

TEST_F(ModelFunctionTest, AsyncModel_HoldsNoThreadWhileItWaits) {
    Later later;
    settings.tool_threads = 1;
    settings.agents[0].model = later.model();
    open();
    std::vector<SessionId> sessions;
    for (int i = 0; i < 16; ++i)
        sessions.push_back(runtime->create({.agent = "ops", .prompt = "hello"}).value());
    auto const promises = later.wait_for(16);  // one thread serves all: none of them blocks it
    for (ModelPromise const& promise : promises) {
        promise.say("So ");
        promise.answer(ModelAnswer{"So it is.", {}});
        promise.answer(ModelAnswer{"Not at all.", {}});
    }
    for (SessionId const& session : sessions) {
        at_rest(session);
        EXPECT_EQ(runtime->last_reply(session).value(), "So it is.");
    }
}

TEST_F(ModelFunctionTest, AsyncModelThatDropsItsPromise_EndsTheTurn) {
    settings.agents[0].model = async_model_from([](ModelQuestion const&, ModelPromise const&) {});
    open();
    auto const session = start("hello");
    bool notified = false;
    auto const all_of_them = runtime->events(session.id).value();
    for (Event const& event : all_of_them)
        notified = notified || event.data.text().contains("unanswered");
    EXPECT_TRUE(notified);
}

TEST_F(ModelFunctionTest, AsyncModelThatThrows_EndsTheTurn) {
    settings.agents[0].model = async_model_from(
        [](ModelQuestion const&, ModelPromise const&) { throw std::runtime_error("no line"); });
    open();
    auto const session = start("hello");
    EXPECT_EQ(count(session.id, "turn_ended"), 1U);
}

TEST_F(ModelFunctionTest, PromiseOfAnEndedRuntime_DoesNothing) {
    Later later;
    settings.agents[0].model = later.model();
    open();
    ASSERT_TRUE(runtime->create({.agent = "ops", .prompt = "hello"}));
    auto const promises = later.wait_for(1);
    static_cast<void>(runtime->close(Duration(1)));
    EXPECT_TRUE(promises.at(0).stop().stop_requested());
    runtime.reset();
    promises[0].say("late");
    promises[0].answer(ModelAnswer{"late", {}});
}

TEST_F(ModelFunctionTest, ModelThatFailsBecauseTheRuntimeEnds_IsAskedAgain) {
    on_disk();
    std::atomic<bool> called = false;
    auto const slow =
        model_from([&](ModelQuestion const&, std::stop_token const& stop) -> Result<ModelAnswer> {
            called = true;
            wait_while([&] { return !stop.stop_requested(); });
            return dormouse::fail(Code::bad_value, "was stopped");
        });
    settings.agents[0].model = slow;
    open();
    auto const session = runtime->create({.agent = "ops", .prompt = "hello"}).value();
    wait_while([&] { return !called; });
    EXPECT_TRUE(runtime->close(Duration(60'000)));
    settings.agents[0].model = script.model();
    open();
    at_rest(session);
    EXPECT_EQ(runtime->last_reply(session).value(), "Done.");
}

}  // namespace
}  // namespace dormouse::runtime
