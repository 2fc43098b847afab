#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"

#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <stdexcept>

// Threads and exceptions of the program's code, and how a runtime ends.
namespace dormouse::runtime {
namespace {

// Blocks threads until the test opens it.
class Latch {
public:
    void open() {
        std::lock_guard const lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

class CallbacksTest : public RuntimeTest {
protected:
    CallbacksTest() {
        settings.log = [this](std::string_view line) {
            std::lock_guard const lock(mutex);
            lines.emplace_back(line);
        };
    }
    bool logged(std::string_view word) {
        bool found = false;
        wait_while([&] {
            std::lock_guard const lock(mutex);
            found = std::ranges::any_of(lines, [&](auto const& l) { return l.contains(word); });
            return !found;
        });
        return found;
    }

    std::mutex mutex;
    std::vector<std::string> lines;
};

TEST_F(CallbacksTest, CompletionThatThrows_IsLoggedAndTheRuntimeContinues) {
    open();
    runtime->create({.agent = "ops", .prompt = "hello"},
                    [](Result<SessionId> const&) { throw std::runtime_error("no luck"); });
    EXPECT_TRUE(logged("a completion threw: no luck"));
    runtime->create({.agent = "ops"}, [](Result<SessionId> const&) { throw 7; });
    EXPECT_TRUE(logged("a completion threw a value that is not an exception"));
    EXPECT_TRUE(start("job").pending.size() == 1);
}

TEST_F(CallbacksTest, CallbackUrlThatThrows_IsLoggedAndTheCallHasNone) {
    std::string url = "unset";
    settings.callback_url = [](PendingId const&) -> std::string {
        throw std::runtime_error("no address");
    };
    settings.tools[0] =
        tool("job", [&](Work const&, Call const& call) -> dormouse::Outcome<Outcome, Pending> {
            url = call.callback_url();
            return Pending<Outcome>{{"queued"}};
        });
    open();
    EXPECT_EQ(start("job").pending.size(), 1U);
    EXPECT_EQ(url, "");
    EXPECT_TRUE(logged("callback_url threw: no address"));
}

TEST_F(CallbacksTest, ObserverThatThrows_IsLoggedAndNotCalledAgain) {
    open();
    auto const asleep = start("job");
    std::atomic<int> calls = 0;
    auto const following = runtime->follow(asleep.id, 0, [&](Event const&) {
        ++calls;
        throw std::runtime_error("no eyes");
    });
    ASSERT_TRUE(following);
    EXPECT_TRUE(logged("an observer threw: no eyes"));
    ASSERT_TRUE(runtime->submit(job, asleep.pending[0].id, {"live"}));
    at_rest(asleep.id);
    EXPECT_EQ(calls, 1);
}

TEST_F(CallbacksTest, ValidatorThatThrows_RefusesEveryResult) {
    auto const strict = tool("job",
                             [](Work const&) -> dormouse::Outcome<Outcome, Pending> {
                                 return Pending<Outcome>{{"queued"}};
                             },
                             {.validate = [](Outcome const&) -> std::optional<std::string> {
                                 throw std::runtime_error("no opinion");
                             }});
    settings.tools[0] = strict;
    open();
    auto const call = start("job").pending.at(0);
    auto const typed = runtime->submit(strict, call.id, {"live"});
    EXPECT_EQ(code_of(typed), "invalid_result");
    EXPECT_EQ(code_of(runtime->submit(call.id, output("live"))), "invalid_result");
    auto const checked = strict.result({"live"});
    ASSERT_FALSE(checked);
    EXPECT_TRUE(checked.error().detail.contains("threw: no opinion"));
    EXPECT_EQ(at_rest(call.id.session).pending.size(), 1U);
}

TEST_F(CallbacksTest, SlowObservers_DelayNoSession) {
    Latch latch;
    settings.tool_threads = 1;
    open();
    auto const asleep = start("job");
    // Declared first: the observers increment it until they have ended.
    std::atomic<int> inside = 0;
    std::vector<Following> followings;
    for (int i = 0; i < 4; ++i) {
        followings.push_back(runtime
                                 ->follow(asleep.id, 0,
                                          [&](Event const&) {
                                              ++inside;
                                              latch.wait();
                                          })
                                 .value());
    }
    wait_while([&] { return inside < 4; });
    // All four observers block, and the one tool thread is free.
    EXPECT_EQ(start("job").pending.size(), 1U);
    std::promise<bool> promise;
    runtime->create({.agent = "ops"},
                    [&](Result<SessionId> id) { promise.set_value(id.has_value()); });
    EXPECT_TRUE(promise.get_future().get());
    latch.open();
}

TEST_F(CallbacksTest, ToolsThatWaitForSessions_LetOtherToolsRun) {
    std::atomic<Runtime*> face = nullptr;
    settings.tool_threads = 1;
    settings.gates.clear();
    settings.tools.back() = tool("guarded_job", [&](Work const&, Call const&) -> Outcome {
        auto const child = face.load()->create({.agent = "ops", .prompt = "mixed"});
        auto const view = face.load()->wait_idle(*child, Duration(60'000));
        return Outcome{view->pending.empty() ? "stands still" : "went on"};
    });
    open();
    face = &*runtime;
    auto const done = start("both steps");
    bool went_on = false;
    auto const all_of_them = runtime->events(done.id).value();
    for (Event const& event : all_of_them)
        went_on = went_on || event.data.text().contains("went on");
    EXPECT_TRUE(went_on);
}

TEST_F(CallbacksTest, Executor_RunsCompletionsAndObservers) {
    std::mutex queue_mutex;
    std::vector<std::function<void()>> queue;
    settings.executor = [&](std::function<void()> work) {
        std::lock_guard const lock(queue_mutex);
        queue.push_back(std::move(work));
    };
    open();
    std::thread::id ran;
    runtime->create({.agent = "ops"},
                    [&](Result<SessionId> const&) { ran = std::this_thread::get_id(); });
    wait_while([&] {
        std::vector<std::function<void()>> taken;
        {
            std::lock_guard const lock(queue_mutex);
            taken = std::exchange(queue, {});
        }
        for (auto const& work : taken) work();
        return ran == std::thread::id();
    });
    EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST_F(CallbacksTest, ExecutorThatThrows_FallsBackToACallbackThread) {
    settings.executor = [](std::function<void()> const&) { throw std::runtime_error("full"); };
    open();
    std::promise<std::thread::id> ran;
    runtime->create({.agent = "ops"},
                    [&](Result<SessionId> const&) { ran.set_value(std::this_thread::get_id()); });
    EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
    EXPECT_TRUE(logged("the executor threw: full"));
}

TEST_F(CallbacksTest, SignalsOfTheProcess_AreBlockedOnToolAndCallbackThreads) {
    auto const blocked = [] {
        sigset_t set;
        ::sigemptyset(&set);
        ::pthread_sigmask(SIG_SETMASK, nullptr, &set);
        return ::sigismember(&set, SIGTERM) == 1;
    };
    std::atomic<bool> in_tool = false;
    settings.tools[1] = tool("now", [&](Work const& work) {
        in_tool = blocked();
        return Outcome{work.target};
    });
    open();
    start("mixed");
    EXPECT_TRUE(in_tool);
    std::promise<bool> in_callback;
    runtime->create({.agent = "ops"},
                    [&](Result<SessionId> const&) { in_callback.set_value(blocked()); });
    EXPECT_TRUE(in_callback.get_future().get());
    EXPECT_FALSE(blocked());
}

TEST_F(CallbacksTest, Close_StopsToolsAndAcceptsTheirResults) {
    on_disk();
    std::promise<void> begun;
    settings.tools[1] = tool("now", [&](Work const&, Call const& call) {
        begun.set_value();
        wait_while([&] { return !call.stop().stop_requested(); });
        return Outcome{"half of it"};
    });
    open();
    auto const session = runtime->create({.agent = "ops", .prompt = "mixed"}).value();
    begun.get_future().wait();
    // Returns much earlier: as soon as the tool does.
    EXPECT_TRUE(runtime->close(Duration(60'000)));
    EXPECT_EQ(code_of(runtime->session(session)), "draining");
    EXPECT_TRUE(runtime->close());
    settings.tools[1] = now;
    open();
    at_rest(session);
    bool kept = false;
    auto const all_of_them = runtime->events(session).value();
    for (Event const& event : all_of_them) kept = kept || event.data.text().contains("half of it");
    EXPECT_TRUE(kept);
}

TEST_F(CallbacksTest, Close_ToolFailsBecauseOfIt_RunsAgain) {
    on_disk();
    std::promise<void> begun;
    settings.tools[1] = tool("now",
                             [&](Work const&, Call const& call) -> dormouse::Outcome<Outcome> {
                                 begun.set_value();
                                 wait_while([&] { return !call.stop().stop_requested(); });
                                 return Failed{"was stopped"};
                             },
                             {.crash = CrashPolicy::retry});
    open();
    auto const session = runtime->create({.agent = "ops", .prompt = "mixed"}).value();
    begun.get_future().wait();
    EXPECT_TRUE(runtime->close(Duration(60'000)));
    std::atomic<int> attempt = 0;
    settings.tools[1] = tool("now",
                             [&](Work const& work, Call const& call) {
                                 attempt = static_cast<int>(call.attempt());
                                 return Outcome{work.target};
                             },
                             {.crash = CrashPolicy::retry});
    open();
    at_rest(session);
    EXPECT_EQ(attempt, 2);
    auto const all_of_them = runtime->events(session).value();
    for (Event const& event : all_of_them) EXPECT_FALSE(event.data.text().contains("was stopped"));
}

TEST_F(CallbacksTest, Close_ToolKeepsRunning_ReturnsFalse) {
    Latch latch;
    std::promise<void> begun;
    settings.tools[1] = tool("now", [&](Work const& work) {
        begun.set_value();
        latch.wait();
        return Outcome{work.target};
    });
    open();
    ASSERT_TRUE(runtime->create({.agent = "ops", .prompt = "mixed"}));
    begun.get_future().wait();
    EXPECT_FALSE(runtime->close(Duration(10)));
    latch.open();
    EXPECT_TRUE(runtime->close(Duration(60'000)));
}

TEST_F(CallbacksTest, Close_WaitingCallers_AreAnswered) {
    Latch latch;
    std::promise<void> begun;
    settings.tools[1] = tool("now", [&](Work const& work) {
        begun.set_value();
        latch.wait();
        return Outcome{work.target};
    });
    open();
    auto const session = runtime->create({.agent = "ops", .prompt = "mixed"}).value();
    begun.get_future().wait();
    std::promise<std::string> promise;
    runtime->wait_idle(session, Duration(600'000),
                       [&](Result<SessionView> const& view) { promise.set_value(code_of(view)); });
    EXPECT_TRUE(runtime->session(session));
    EXPECT_FALSE(runtime->close(Duration(10)));
    EXPECT_EQ(promise.get_future().get(), "draining");
    latch.open();
    // The tool has left the latch, and the callback the promise.
    EXPECT_TRUE(runtime->close(Duration(60'000)));
}

TEST_F(CallbacksTest, ZeroInTheSettings_IsRefusedByName) {
    auto const refused = [this](std::string const& word) {
        auto const opened = Runtime::open(settings);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, Code::bad_value);
        EXPECT_TRUE(opened.error().detail.contains(word)) << opened.error().detail;
    };
    settings.tool_threads = 0;
    refused("tool_threads");
    settings.tool_threads = 1;
    settings.callback_threads = 0;
    refused("callback_threads");
    settings.callback_threads = 1;
    settings.resident_time = Duration(0);
    refused("resident_time");
    settings.resident_time = Duration(1);
    settings.agents[0].step_limit = 0;
    refused("step_limit");
    settings.agents[0].step_limit = 1;
    settings.agents[0].tool_concurrency = 0;
    refused("tool_concurrency");
}

TEST_F(CallbacksTest, Authorizer_IsAskedForSessionsToo) {
    std::atomic<int> call_count = 0;
    settings.authorize = [&](Operation operation, std::string const& by,
                             PendingCall const&) -> Result<void> {
        bool const of_session = operation == Operation::create_session ||
                                operation == Operation::pause_session ||
                                operation == Operation::resume_session;
        call_count += of_session;
        if (by == "mallory") return dormouse::fail(Code::forbidden, "not you");
        return {};
    };
    open();
    EXPECT_EQ(code_of(runtime->create({.agent = "ops", .by = "mallory"})), "forbidden");
    auto const session = runtime->create({.agent = "ops"}).value();
    EXPECT_EQ(code_of(runtime->pause(session, "mallory")), "forbidden");
    EXPECT_TRUE(runtime->pause(session, "ann"));
    EXPECT_EQ(code_of(runtime->resume(session, "mallory")), "forbidden");
    EXPECT_TRUE(runtime->resume(session, "ann"));
    EXPECT_EQ(call_count, 6);
}

}  // namespace
}  // namespace dormouse::runtime
