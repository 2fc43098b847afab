#include "sim/flaky_store.h"

#include "runner/read/reading.h"
#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

// Reads during a lane's writes, which the simulator's single loop does not cover.
namespace dormouse::sim {
namespace {

using MemoryJournal = runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk>;

class BesideALane : public runner::testing::RunnerTestOn<MemoryJournal> {};

TEST_F(BesideALane, SessionIsReadByOneQuestion_SoThatNoPauseComesBetween) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    effects.reply({session::testing::job()});
    loop.run();
    int questions = 0;
    FlakyStore store(*journal.store, [&] {
        if (++questions == 1) {
            effects.finish(session::PauseTerms());
            loop.run();
        }
        return false;
    });
    auto const read = runner::read_session(store, session);
    EXPECT_TRUE(read) << read.error().detail;
    EXPECT_EQ(questions, 1);
    EXPECT_EQ(stored(session).waiting, 1U);
}

}  // namespace
}  // namespace dormouse::sim
