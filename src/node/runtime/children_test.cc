#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"

#include <map>
#include <mutex>

// Agents as tools and background tasks in a program that uses the library.
namespace dormouse::runtime {
namespace {

struct JobInput {
    std::string prompt;
};
struct Started {
    std::string description;
    std::string prompt;
    std::string agent;
};

class ChildrenTest : public RuntimeTest {
protected:
    ChildrenTest() {
        lead_script.on("ship").calls("agent:ops", to_json(JobInput{"job please"}).value());
        lead_script.when_answered("agent:ops").says("Shipped.");
        lead_script.on("behind").calls("background_task",
                                       to_json(Started{"a job", "job please", "ops"}).value());
        lead_script.when_answered("background_task").says("Started.");
        lead_script.otherwise().says("Told.");
        lead.name = "lead";
        lead.model = lead_script.model();
        lead.tools = {"agent:ops", "background_task", "background_output"};
        settings.agents.push_back(lead);
    }
    SessionView ask(std::string const& prompt) {
        auto const session = runtime->create({.agent = "lead", .prompt = prompt});
        EXPECT_TRUE(session) << session.error().detail;
        return at_rest(*session);
    }
    // Waits until `count` calls of the tool `job` are pending, and returns them.
    std::vector<PendingCall> jobs(std::size_t count) {
        std::vector<PendingCall> calls;
        wait_while([&] {
            calls = runtime->waiting({.tool = "job"}).value().calls;
            return calls.size() != count;
        });
        EXPECT_EQ(calls.size(), count);
        return calls;
    }

    Script lead_script;
    AgentSettings lead;
};

TEST_F(ChildrenTest, AgentAsATool_AfterARestart_AnswersItsCallOnce) {
    on_disk();
    open();
    SessionView const parent_view = ask("ship it");
    ASSERT_EQ(parent_view.pending.size(), 1U);
    EXPECT_EQ(parent_view.pending[0].tool, "agent:ops");
    EXPECT_EQ(parent_view.pending[0].reason, PauseReason::handoff);
    ASSERT_EQ(parent_view.children.size(), 1U);
    EXPECT_EQ(parent_view.children[0].agent, "ops");
    PendingId const job = jobs(1)[0].id;
    EXPECT_EQ(job.session, parent_view.children[0].session);
    EXPECT_EQ(at_rest(job.session).parent, parent_view.id);
    open();
    EXPECT_FALSE(runtime->submit(parent_view.pending[0].id, Json())) << "only the child answers";
    ASSERT_TRUE(runtime->submit(job, output("done")));
    wait_while([&] { return at_rest(parent_view.id).activity != Activity::idle; });
    EXPECT_EQ(runtime->last_reply(parent_view.id).value(), "Shipped.");
    EXPECT_EQ(count(parent_view.id, "submitted"), 1U);
    EXPECT_EQ(count(parent_view.id, "model_replied"), 2U);
    EXPECT_TRUE(at_rest(parent_view.id).children.empty()) << "its session ends with the call";
}

TEST_F(ChildrenTest, FollowAll_DeliversEventsOfChildren) {
    open();
    std::mutex mutex;
    std::map<std::string, std::vector<Seq>> seen;
    bool child_ended = false;
    auto const session = runtime->create({.agent = "lead"}).value();
    auto following = runtime->follow_all(session, 0, [&](Event const& event) {
        std::lock_guard const lock(mutex);
        seen[event.session.text()].push_back(event.seq);
        child_ended = child_ended || (event.session != session && event.type == "session_ended");
    });
    ASSERT_TRUE(following) << following.error().detail;
    ASSERT_TRUE(runtime->prompt(session, "ship it"));
    PendingId const job = jobs(1)[0].id;
    ASSERT_TRUE(runtime->submit(job, output("done")));
    auto const over = [&] {
        std::lock_guard const lock(mutex);
        return child_ended && seen[session.text()].size() == at_rest(session).head;
    };
    wait_while([&] { return !over(); });
    EXPECT_TRUE(over());
    following = Following();
    std::lock_guard const lock(mutex);
    ASSERT_EQ(seen.size(), 2U);
    for (auto const& [name, seqs] : seen) {
        for (Seq i = 0; i < seqs.size(); ++i) EXPECT_EQ(seqs[i], i + 1) << name;
    }
}

TEST_F(ChildrenTest, CancelledParent_CancelsTheChild) {
    open();
    SessionView const parent_view = ask("ship it");
    (void)jobs(1);
    ASSERT_TRUE(runtime->cancel(parent_view.id));
    (void)jobs(0);
    EXPECT_EQ(at_rest(parent_view.id).activity, Activity::idle);
}

TEST_F(ChildrenTest, EndOfABackgroundTask_WakesItsParentOnce) {
    open();
    SessionView const parent_view = ask("behind");
    EXPECT_EQ(runtime->last_reply(parent_view.id).value(), "Started.");
    EXPECT_EQ(parent_view.activity, Activity::idle);
    ASSERT_TRUE(runtime->submit(jobs(1)[0].id, output("done")));
    wait_while([&] { return count(parent_view.id, "turn_ended") < 2; });
    EXPECT_EQ(runtime->last_reply(parent_view.id).value(), "Told.");
    EXPECT_EQ(count(parent_view.id, "turn_ended"), 2U);
    SessionView const parent = at_rest(parent_view.id);
    ASSERT_EQ(parent.children.size(), 1U);
    EXPECT_EQ(parent.children[0].status, TaskStatus::completed);
}

TEST_F(ChildrenTest, MissingAgent_IsNamedAtOpen) {
    settings.agents.back().tools = {"agent:nobody"};
    auto const opened = Runtime::open(settings);
    ASSERT_FALSE(opened);
    EXPECT_TRUE(opened.error().detail.contains("agent:nobody")) << opened.error().detail;
}

}  // namespace
}  // namespace dormouse::runtime
