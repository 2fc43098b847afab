#include "runner/testing/two_runners_fixture.h"

// Creations with an Idempotency-Key whose session the store loses meanwhile, because it falls back.
namespace dormouse::runner::testing {
namespace {

using namespace session;

// The store falls back after B has found the session of the key, and before B reads it.
TEST_F(TwoRunners, SessionOfAKeyIsLostMeanwhile_IsMadeAgainUnderItsKey) {
    Create const create{{}, "default", "demo", {}, {}, {}, {}, {}, {}};
    std::vector<SessionId> made;
    auto const ask = [&](SharedServer& server) {
        server.runner->create(
            create, {{ActorType::token, "ann"}, "key", "digest"},
            [&](Result<Created> const& one) { made.push_back(one ? one->session : SessionId()); });
        loop.run();
    };
    auto const earlier = a.journal.disk->copy();
    ask(a);
    int reads = 0;
    b.journal.before_read = [&] {
        if (++reads == 2) b.journal.disk->fall_back(earlier);
    };
    ask(b);
    b.journal.before_read = {};
    ask(b);
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(made[0], made[1]);
    EXPECT_EQ(made[1], made[2]);
}

// As before, but A has made another session under the key when B reads the lost one.
TEST_F(TwoRunners, SessionOfAKeyIsMadeAgainElsewhere_IsTheAnswer) {
    Create const create{{}, "default", "demo", {}, {}, {}, {}, {}, {}};
    std::vector<SessionId> made;
    auto const ask = [&](SharedServer& server) {
        server.runner->create(
            create, {{ActorType::token, "ann"}, "key", "digest"},
            [&](Result<Created> const& one) { made.push_back(one ? one->session : SessionId()); });
    };
    auto const earlier = a.journal.disk->copy();
    ask(a);
    loop.run();
    int reads = 0;
    b.journal.before_read = [&] {
        if (++reads != 2) return;
        b.journal.disk->fall_back(earlier);
        b.journal.hold_reads = true;
    };
    ask(b);
    loop.run();
    ask(a);
    loop.run();
    b.journal.release_reads();
    loop.run();
    ASSERT_EQ(made.size(), 3U);
    EXPECT_NE(made[0], made[1]);
    EXPECT_EQ(made[2], made[1]);
}

}  // namespace
}  // namespace dormouse::runner::testing
