// Workers check commands that would block the loop.

#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/admit.h"

namespace dormouse::runner::testing {
namespace {

using namespace session;

// Runs a job when the test says so.
class TestWorkers final : public port::Workers {
public:
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override {
        waiting_.emplace_back(std::move(job), std::move(done));
        return {};
    }

    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    void work(bool ran = true) {
        auto [job, done] = std::move(waiting_.front());
        waiting_.pop_front();
        if (ran) job({});
        done(ran);
    }

private:
    std::deque<std::pair<port::Fn<void(std::stop_token)>, port::Fn<void(bool)>>> waiting_;
};

using Journal = TestJournal<store::MemoryStore, store::MemoryDisk>;

class LargeCommandTest : public RunnerTestOn<Journal> {
protected:
    LargeCommandTest() {
        runner = std::make_unique<Runner>(
            Runner::Services{loop, clock, entropy, journal, nodes, effects, effects, &workers},
            Options(), observer);
    }

    void command(SessionId session, Command::Body body) {
        runner->command(session, std::move(body), ann(),
                        [this](Result<Answer> answer) { answers.push_back(answer_of(answer)); });
        loop.run();
    }

    TestWorkers workers;
    std::string const large = std::string(wire::large_bytes, 'x');
};

TEST_F(LargeCommandTest, LargePrompt_Entering_IsCheckedByAWorker) {
    SessionId const session = new_session();
    command(session, prompt("small"));
    EXPECT_EQ(answers.size(), 2u);
    EXPECT_EQ(workers.waiting(), 0u);
    command(session, prompt(large));
    ASSERT_EQ(workers.waiting(), 1u);
    EXPECT_EQ(answers.size(), 2u);
    // Other commands do not wait for it.
    command(session, prompt("meanwhile"));
    EXPECT_EQ(answers.size(), 3u);
    workers.work();
    loop.run();
    ASSERT_EQ(answers.size(), 4u);
    EXPECT_TRUE(answers.back().starts_with("applied")) << answers.back();
}

TEST_F(LargeCommandTest, LargePrompt_NotJson_IsRefused) {
    SessionId const session = new_session();
    Prompt bad = prompt(large);
    bad.parts = Json::trusted("[" + large);
    command(session, std::move(bad));
    workers.work();
    loop.run();
    EXPECT_TRUE(answers.back().contains("bad_value")) << answers.back();
}

TEST_F(LargeCommandTest, LargePrompt_NoMemoryForIt_IsRefusedAsOverloaded) {
    SessionId const session = new_session();
    command(session, prompt(large));
    workers.work(false);
    loop.run();
    EXPECT_TRUE(answers.back().contains("overloaded")) << answers.back();
    command(session, prompt("small"));
    EXPECT_TRUE(answers.back().starts_with("applied")) << answers.back();
}

TEST_F(LargeCommandTest, LargeCreate_Refused_LeavesNoLane) {
    Create create = demo();
    create.prompt = Create::FirstPrompt{Json::trusted("[" + large)};
    ask_for_session(std::move(create), ann());
    loop.run();
    ASSERT_EQ(workers.waiting(), 1u);
    workers.work();
    loop.run();
    EXPECT_TRUE(answers.back().contains("bad_value")) << answers.back();
    EXPECT_EQ(runner->resident(), 0u);
}

TEST_F(LargeCommandTest, LargeOutput_OfATool_IsCheckedByAWorker) {
    SessionId const session = new_session();
    command(session, prompt("please"));
    effects.reply({session::testing::job()});
    loop.run();
    effects.finish(Done{.output = Json::trusted("\"" + large + "\"")});
    loop.run();
    ASSERT_EQ(workers.waiting(), 1u);
    std::size_t const before = stored(session).head;
    workers.work();
    loop.run();
    EXPECT_GT(stored(session).head, before);
}

}  // namespace
}  // namespace dormouse::runner::testing
