#include "runner/lane/outbox.h"

#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

#include <algorithm>

// A parent and its child, each in its lane, and the messages between them: with crashes, and with
// appends of unknown end, at each commit.
namespace dormouse::runner::testing {
namespace {

using namespace session;
using session::testing::pausing;
using session::testing::with_policy;

using Journal = TestJournal<store::MemoryStore, store::MemoryDisk>;

class TaskRunnerTest : public RunnerTestOn<Journal> {
protected:
    static CallSpec tool(std::string name) {
        CallSpec spec = with_policy(pausing(PauseReason::handoff), CrashPolicy::retry);
        spec.tool = std::move(name);
        return spec;
    }
    TaskAsk ask_of(std::string const& tool) const {
        TaskAsk ask;
        ask.agent = "demo";
        ask.parts = session::testing::Given::parts("look it up");
        if (tool == "call") ask.what = TaskAsk::What::call;
        if (tool == "block") {
            ask.what = TaskAsk::What::output;
            ask.task = task_id(parent, 1);
            ask.block = true;
        }
        return ask;
    }
    // The parent's model calls the tools under test, one in each step; the child's says "well".
    void answer_model() {
        // The parent's request first, so that it asks before the child has ended.
        auto const first = std::ranges::find_if(
            effects.requests, [&](auto const& one) { return one.request.session == parent; });
        if (first != effects.requests.end()) std::iter_swap(first, effects.requests.end() - 1);
        auto const request = effects.requests.back().request;
        bool const of_parent = request.session == parent && request.ask.turn == 1;
        std::size_t const step = request.ask.step;
        if (of_parent && step <= calls.size()) return effects.reply({tool(calls[step - 1])});
        effects.reply();
    }
    // Does outstanding work until there is none.
    void play() {
        for (int i = 0; i < 200; ++i) {
            loop.advance(Duration(2'000));
            if (!effects.ran.empty()) {
                effects.finish(ask_of(effects.ran.back().run.tool));
            } else if (!effects.requests.empty()) {
                answer_model();
            } else if (i > 40) {
                return;
            }
        }
    }
    // Stops, as a process that dies, after so many commits.
    void play_until(std::size_t commits) {
        for (int i = 0; i < 200 && journal.commits.size() < commits; ++i) {
            loop.advance(Duration(2'000));
            if (journal.commits.size() >= commits) return;
            if (!effects.ran.empty()) {
                effects.finish(ask_of(effects.ran.back().run.tool));
            } else if (!effects.requests.empty()) {
                answer_model();
            }
            loop.run();
        }
    }
    void begin(std::vector<std::string> tools) {
        calls = std::move(tools);
        runner->start();
        parent = new_session();
        EXPECT_EQ(ask(parent, prompt("please")), "applied");
    }
    [[nodiscard]] std::vector<wire::RecordPtr> records_of(SessionId session) {
        return read_records(*journal.store, session, 1, stored(session).head).value();
    }
    template <class Kind> std::vector<Kind> all_of(SessionId session) {
        std::vector<Kind> out;
        for (wire::RecordPtr const& record : records_of(session)) {
            if (auto const* body = std::get_if<Kind>(&record->event.body)) out.push_back(*body);
        }
        return out;
    }
    [[nodiscard]] std::size_t notices() {
        std::size_t count = 0;
        for (InputReceived const& input : all_of<InputReceived>(parent)) count += input.task != 0;
        return count;
    }
    // Whatever happened: one child, one run, one notification, and no message in progress.
    void expect_all_well(std::size_t notices_wanted) {
        auto const started = all_of<TaskStarted>(parent);
        ASSERT_EQ(started.size(), 1u);
        State const child = stored(started[0].child);
        EXPECT_EQ(child.turns, 1u);
        EXPECT_FALSE(child.turn);
        EXPECT_EQ(all_of<SessionCreated>(started[0].child).size(), 1u);
        EXPECT_EQ(notices(), notices_wanted);
        State const state = stored(parent);
        EXPECT_FALSE(state.turn);
        EXPECT_TRUE(state.calls.empty());
        std::size_t ends = 0;
        for (TaskChanged const& changed : all_of<TaskChanged>(parent))
            ends += changed.status == TaskStatus::completed;
        EXPECT_EQ(ends, 1u);
        EXPECT_TRUE(journal.store->due_messages("session", Time::max(), 100).value().empty());
    }
    // The number of commits if nothing goes wrong.
    std::size_t commits_of(std::vector<std::string> const& tools) {
        begin(tools);
        std::size_t const before = journal.commits.size();
        play();
        return journal.commits.size() - before;
    }

    SessionId parent;
    std::vector<std::string> calls;
};

struct Story {
    std::vector<std::string> tools;
    std::size_t notices;
};
Story const stories[] = {{{"start"}, 1}, {{"start", "block"}, 0}, {{"call"}, 0}};

// The child's number is reserved when its task is durable, not when the child is.
TEST_F(TaskRunnerTest, CrashBeforeTheChildIsMade_KeepsItsNumberReserved) {
    begin({"start"});
    loop.run();
    answer_model();
    loop.run();
    journal.hold = true;
    effects.finish(ask_of("start"));
    loop.run();
    journal.release();
    journal.drop_held();
    journal.hold = false;
    SessionId const child = all_of<TaskStarted>(parent).at(0).child;
    restart();
    EXPECT_EQ(stored(child).head, 0u);
    EXPECT_NE(new_session().number(), child.number());
    runner->start();
    play();
    expect_all_well(1);
}

TEST_F(TaskRunnerTest, ChildEnds_ParentIsNotified) {
    begin({"start"});
    play();
    expect_all_well(1);
    Task const task = stored(parent).tasks.at(1);
    EXPECT_EQ(task.status, TaskStatus::completed);
    EXPECT_EQ(task.result, Json::trusted("\"well\""));
    EXPECT_EQ(stored(task.child).parent, (Parent{parent, 1, 1}));
}

TEST_F(TaskRunnerTest, BlockingCall_ReturnsTheChildsLastText) {
    begin({"start", "block"});
    play();
    expect_all_well(0);
    auto const settled = all_of<Submitted>(parent);
    ASSERT_EQ(settled.size(), 1u);
    EXPECT_EQ(settled[0].what->output, Json::trusted("\"well\""));
}

TEST_F(TaskRunnerTest, AgentAsATool_ReturnsItsTextAndItsSessionEnds) {
    begin({"call"});
    play();
    expect_all_well(0);
    EXPECT_TRUE(stored(parent).tasks.empty());
    SessionId const child = all_of<TaskStarted>(parent)[0].child;
    EXPECT_EQ(stored(child).lifecycle, Lifecycle::completed);
}

// At each commit, the commit is lost, or made but reported as failed; and the process continues or
// dies.
class Windows : public ::testing::TestWithParam<std::tuple<int, Fault, bool>> {};

class OneWindow : public TaskRunnerTest {
public:
    void TestBody() override {}
    std::size_t length(Story const& story) { return commits_of(story.tools); }
    void run(Story const& story, std::size_t at, Fault fault, bool dies) {
        begin(story.tools);
        play_until(journal.commits.size() + at);
        journal.fault = fault;
        std::size_t const here = journal.commits.size();
        play_until(here + 1);
        if (dies) {
            restart();
            runner->start();
        }
        journal.fault = Fault::none;
        play();
        expect_all_well(story.notices);
    }
};

TEST_P(Windows, CrashAtAnyCommit_LosesAndRepeatsNothing) {
    auto const [which, fault, dies] = GetParam();
    Story const& story = stories[which];
    std::size_t const length = OneWindow().length(story);
    ASSERT_GT(length, 3u);
    for (std::size_t at = 0; at <= length; ++at) {
        SCOPED_TRACE("commit " + std::to_string(at) + " of " + std::to_string(length));
        OneWindow().run(story, at, fault, dies);
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(EachStory, Windows,
                         ::testing::Combine(::testing::Values(0, 1, 2),
                                            ::testing::Values(Fault::none, Fault::lost,
                                                              Fault::hidden),
                                            ::testing::Bool()));

TEST_F(TaskRunnerTest, DeletedParent_EndsTheChildAlsoAfterACrash) {
    begin({"start"});
    while (effects.requests.empty() || effects.requests.back().request.session == parent) {
        loop.advance(Duration(1'000));
        if (!effects.ran.empty()) {
            effects.finish(ask_of("start"));
        } else if (!effects.requests.empty() && effects.requests.back().request.session == parent) {
            answer_model();
        }
        loop.run();
    }
    SessionId const child = effects.requests.back().request.session;
    EXPECT_EQ(ask(parent, Delete{}), "applied");
    restart();
    runner->start();
    loop.advance(Duration(5'000));
    EXPECT_EQ(stored(child).lifecycle, Lifecycle::completed);
    EXPECT_TRUE(journal.store->due_messages("session", Time::max(), 100).value().empty());
}

TEST_F(TaskRunnerTest, AgentOfAnotherProject_IsRefused) {
    begin({"start"});
    auto elsewhere = demo();
    elsewhere.agent = "elsewhere";
    ask_for_session(elsewhere, ann());
    loop.run();
    EXPECT_EQ(answers.back(), "bad_value");
    TaskAsk task = ask_of("start");
    task.agent = "elsewhere";
    EXPECT_EQ(ask(parent, task), "bad_value");
    loop.advance(Duration(2'000));
    answer_model();
    loop.run();
    ASSERT_FALSE(effects.ran.empty());
    effects.finish(task);
    loop.run();
    EXPECT_TRUE(all_of<TaskStarted>(parent).empty());
    auto const ended = all_of<ToolFinished>(parent);
    ASSERT_EQ(ended.size(), 1U);
    EXPECT_EQ(ended[0].error, "It serves another project.");
}

TEST_F(TaskRunnerTest, DeletedChild_IsReportedToASleepingParent) {
    begin({"start"});
    play();
    SessionId const child = stored(parent).tasks.at(1).child;
    restart();
    runner->start();
    loop.advance(Duration(2'000));
    EXPECT_EQ(ask(child, Delete{}), "applied");
    loop.advance(Duration(5'000));
    EXPECT_TRUE(stored(parent).tasks.at(1).gone);
    TaskAsk again = ask_of("start");
    again.what = TaskAsk::What::resume;
    again.task = task_id(parent, 1);
    EXPECT_EQ(ask(parent, again), "task_session_gone");
}

}  // namespace
}  // namespace dormouse::runner::testing
