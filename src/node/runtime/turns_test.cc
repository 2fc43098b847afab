#include "runtime/turns.h"
#include "base/test_wait.h"
#include "runner/testing/world.h"
#include "runtime/testing/runtime_fixture.h"

#include <mutex>

// Interceptors of turns, as a program sees them.
namespace dormouse::runtime {
namespace {

class TurnsTest : public RuntimeTest {
protected:
    // Ends interceptors before the members they use.
    ~TurnsTest() override { runtime.reset(); }

    void note(std::string what) {
        std::lock_guard const lock(mutex);
        noted.push_back(std::move(what));
    }
    std::vector<std::string> notes() {
        std::lock_guard const lock(mutex);
        return noted;
    }
    void wait_for(std::size_t count) {
        wait_while([&] { return notes().size() < count; });
    }
    TurnInterceptor recorder(std::string name) {
        TurnInterceptor out{.name = name};
        out.before = [this, name](TurnInfo const& turn) -> TurnDecision {
            note("before " + name + " " + turn.asked());
            return Proceed{};
        };
        out.after = [this, name](TurnInfo const& turn, TurnEnd const& end) {
            std::string const& reply = turn.messages.back().text;
            note("after " + name + " " + end.finish + " " + reply);
        };
        return out;
    }

    std::mutex mutex;
    std::vector<std::string> noted;  // protected by mutex
};

// Runs each job at once.
class AtOnce final : public port::Workers {
public:
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override {
        job({});
        done(true);
        return {};
    }
};

// The server may have been declared dead while they waited for a thread.
TEST(TurnsAdapter, InterceptorsThatMustNotBegin_AreNotAsked) {
    AtOnce workers;
    runner::testing::TestLoop loop;
    int asked = 0;
    TurnInterceptor one{.name = "one"};
    one.before = [&asked](TurnInfo const&) -> TurnDecision {
        ++asked;
        return Proceed{};
    };
    auto const turns = adapt({one}, workers, loop, Duration(60'000));
    std::vector<bool> answered;
    for (bool const may : {false, true}) {
        port::TurnRequest request;
        request.ask.names = {"one"};
        auto const stop =
            turns(std::move(request), agent::MayStart([may] { return [may] { return may; }; }),
                  [&answered](std::optional<session::TurnOutcome> const& outcome) {
                      answered.push_back(outcome.has_value());
                  });
    }
    EXPECT_EQ(answered, (std::vector{false, true}));
    EXPECT_EQ(asked, 1);
}

// Keeps jobs until the test runs them; refuses them while it is full.
class Queue final : public port::Workers {
public:
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override {
        if (full) done(false);
        if (!full) jobs.emplace_back(std::move(job), std::move(done));
        return {};
    }
    bool full = false;
    std::vector<std::pair<port::Fn<void(std::stop_token)>, port::Fn<void(bool)>>> jobs;
};

class QueuedTurn : public testing::Test {
protected:
    agent::StopTool begin() {
        port::TurnRequest request;
        request.ask.names = {"one"};
        return turns(std::move(request), {}, [this](std::optional<session::TurnOutcome> outcome) {
            answers.push_back(!outcome           ? "not begun"
                              : outcome->refused ? *outcome->refused
                                                 : "proceed");
        });
    }

    Queue workers;
    runner::testing::TestLoop loop;
    int asked = 0;
    TurnInterceptor one{.name = "one", .before = [this](TurnInfo const&) -> TurnDecision {
                            ++asked;
                            return Proceed{};
                        }};
    agent::AskTurn turns = adapt({one}, workers, loop, Duration(60'000));
    std::vector<std::string> answers;
};

TEST_F(QueuedTurn, QueueIsFull_HasNotBegun) {
    workers.full = true;
    auto const stop = begin();
    EXPECT_EQ(answers, std::vector<std::string>{"not begun"});
    EXPECT_EQ(asked, 0);
}

// Threads that are busy for a minute refuse no turn.
TEST_F(QueuedTurn, TimeIsUpInTheQueue_HasNotBegunAndNeverDoes) {
    auto const stop = begin();
    loop.advance(Duration(60'000));
    EXPECT_EQ(answers, std::vector<std::string>{"not begun"});
    workers.jobs.at(0).first({});
    workers.jobs.at(0).second(true);
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(answers.size(), 1U);
}

TEST_F(QueuedTurn, TimeIsUpWhileItRuns_IsRefused) {
    auto const stop = begin();
    workers.jobs.at(0).first({});
    loop.advance(Duration(60'000));
    EXPECT_EQ(answers, std::vector<std::string>{"the interceptors did not answer in time"});
}

TEST_F(TurnsTest, FirstRegistered_IsOutermost) {
    settings.turns = {recorder("outer"), recorder("inner")};
    open();
    auto const view = start("hello");
    wait_for(4);
    EXPECT_EQ(notes(),
              (std::vector<std::string>{"before outer hello", "before inner hello",
                                        "after inner stop Done.", "after outer stop Done."}));
    EXPECT_EQ(count(view.id, "turn_checked"), 1U);
}

TEST_F(TurnsTest, Refusal_EndsTheTurnWithoutAskingTheModel) {
    settings.turns = {{.name = "budget",
                       .before = [](TurnInfo const& turn) -> TurnDecision {
                           if (turn.asked().contains("secret")) return Refuse{"not that"};
                           return Proceed{};
                       }},
                      recorder("inner")};
    open();
    auto const view = start("the secret");
    EXPECT_EQ(script.asked(), 0U);
    EXPECT_EQ(view.activity, Activity::idle);
    auto const events = runtime->events(view.id).value();
    bool notified = false;
    for (Event const& event : events)
        notified =
            notified || (event.type == "turn_ended" && event.data.text().contains("not that") &&
                         event.data.text().contains("refused"));
    EXPECT_TRUE(notified);
    wait_for(1);
    EXPECT_EQ(notes().at(0), "after inner error the secret")
        << "not asked, but notified of the end";
    ASSERT_TRUE(runtime->prompt(view.id, "something else"));
    at_rest(view.id);
    EXPECT_EQ(runtime->last_reply(view.id).value(), "Done.");
}

TEST_F(TurnsTest, AddedContext_IsSeenInAllLaterSteps) {
    std::vector<std::string> seen;
    settings.agents[0].model = model_from([&seen](ModelQuestion const& question, std::stop_token) {
        std::string all;
        for (auto const& message : question.messages) all += message.text + "|";
        seen.push_back(all);
        ModelAnswer out{"ok", {}};
        if (seen.size() == 1) out.calls.push_back({"now", to_json(Work{"A"}).value()});
        return Result<ModelAnswer>(out);
    });
    int call_count = 0;
    settings.turns = {{.name = "clock", .before = [&call_count](TurnInfo const&) -> TurnDecision {
                           return Proceed{"It is day " + std::to_string(++call_count) + "."};
                       }}};
    open();
    auto const view = start("hello");
    ASSERT_TRUE(runtime->prompt(view.id, "again"));
    at_rest(view.id);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0], "hello|It is day 1.|");
    EXPECT_TRUE(seen[1].starts_with(seen[0])) << "the view only grows at its end";
    EXPECT_TRUE(seen[2].starts_with(seen[1]));
    EXPECT_TRUE(seen[2].ends_with("again|It is day 2.|"));
    EXPECT_EQ(call_count, 2) << "once a turn, not once a step";
}

TEST_F(TurnsTest, TurnOverTwoProcesses_HasOneBeforeAndOneAfter) {
    on_disk();
    settings.turns = {recorder("audit")};
    open();
    auto const asleep = start("job");
    EXPECT_EQ(notes(), (std::vector<std::string>{"before audit job"}));
    open();  // a new process
    ASSERT_TRUE(runtime->submit(job, asleep.pending.at(0).id, {"live"}));
    wait_for(2);
    EXPECT_EQ(notes(), (std::vector<std::string>{"before audit job", "after audit stop Done."}));
}

TEST_F(TurnsTest, InterceptorThatThrows_BeforeRefusesAfterIsIgnored) {
    settings.turns = {{.name = "broken",
                       .before = [](TurnInfo const& turn) -> TurnDecision {
                           if (turn.asked() == "boom") throw std::runtime_error("no luck");
                           return Proceed{};
                       },
                       .after = [](TurnInfo const&, TurnEnd const&) { throw 7; }}};
    open();
    auto const view = start("boom");
    EXPECT_EQ(script.asked(), 0U);
    ASSERT_TRUE(runtime->prompt(view.id, "hello"));
    at_rest(view.id);
    EXPECT_EQ(runtime->last_reply(view.id).value(), "Done.");
    wait_while([&] { return count(view.id, "turn_told") < 2; });
    EXPECT_EQ(count(view.id, "turn_told"), 2U);
}

TEST_F(TurnsTest, InvalidInterceptors_AreRefused) {
    for (auto const& turns : {std::vector<TurnInterceptor>{recorder("a"), recorder("a")},
                              std::vector<TurnInterceptor>{{.name = "idle"}},
                              std::vector<TurnInterceptor>{recorder("")}}) {
        Settings wrong = settings;
        wrong.turns = turns;
        EXPECT_EQ(code_of(Runtime::open(std::move(wrong))), "bad_value");
    }
}

}  // namespace
}  // namespace dormouse::runtime
