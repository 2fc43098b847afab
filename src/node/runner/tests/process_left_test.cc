// A process leaves a shared store: another one continues its sessions at once.
#include "runner/testing/two_runners_fixture.h"

namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using testing::TwoRunners;

TEST_F(TwoRunners, ProcessLeft_ItsSessionsContinueAtOnce) {
    begin({with_policy(plain(), CrashPolicy::retry)});
    a.runner.reset();
    b.journal.store->declare_gone(a.nodes.epoch());
    b.runner->process_left();
    loop.run();
    EXPECT_EQ(b.effects.ran.size(), 1U);
}

TEST_F(TwoRunners, ProcessLeft_OthersFirstLookForTheirShareOnly) {
    begin({with_policy(plain(), CrashPolicy::retry)});
    a.runner.reset();
    b.journal.store->declare_gone(a.nodes.epoch());
    b.nodes.share = false;
    b.runner->process_left();
    loop.run();
    EXPECT_TRUE(b.effects.ran.empty());
    scan();
    EXPECT_EQ(b.effects.ran.size(), 1U);
}

TEST_F(TwoRunners, ProcessesLeftOften_ScansAreNotMoreFrequentAfterwards) {
    a.runner.reset();
    scan();
    auto const reads_in_a_minute = [this] {
        auto const before = b.journal.reads;
        loop.advance(Duration(60'000));
        return b.journal.reads - before;
    };
    auto const expected = reads_in_a_minute();
    for (int n = 0; n < 5; ++n) b.runner->process_left();
    loop.run();
    for (int n = 0; n < 5; ++n) {
        b.runner->process_left();
        loop.run();
    }
    EXPECT_EQ(reads_in_a_minute(), expected);
}

}  // namespace
}  // namespace dormouse::runner
