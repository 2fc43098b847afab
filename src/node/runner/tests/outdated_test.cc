#include "runner/testing/two_runners_fixture.h"

// A process that takes part again under a new epoch.
namespace dormouse::runner::testing {
namespace {

using namespace session;
using namespace session::testing;

// A drives the session under its former epoch, which is not gone yet.
TEST_F(TwoRunners, NewEpochDuringALookUp_NothingIsAdopted) {
    begin({with_policy(plain(), CrashPolicy::never)});
    int reads = 0;
    a.journal.before_read = [&] { a.journal.hold_reads = ++reads == 2; };
    a.runner->forget_memory();
    std::string answer;
    a.runner->command(
        session, prompt(), {{ActorType::token, "ann"}, "key", "digest"},
        [&](Result<Answer> const& got) { answer = answer_of(Decision{{}, got, {}}); });
    loop.run();
    a.journal.before_read = {};
    ASSERT_TRUE(a.journal.hold_reads) << "it looks the key up";
    Epoch const before = a.nodes.epoch();
    a.runner->fenced();
    loop.run();
    ASSERT_GT(a.nodes.epoch(), before);
    a.journal.release_reads();
    loop.run();
    EXPECT_EQ(answer, "applied");
    EXPECT_EQ(driver(), before);
    EXPECT_EQ(stored().calls.begin()->second.phase, CallPhase::running);
}

}  // namespace
}  // namespace dormouse::runner::testing
