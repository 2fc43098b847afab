#include "runner/testing/two_runners_fixture.h"

// Creations with an Idempotency-Key whose session the store loses meanwhile, because it falls back.
namespace dormouse::runner::testing {
namespace {

using namespace session;

class KeyedCreation : public TwoRunners {
protected:
    // Sends the same creation to a server.
    void ask(SharedServer& server) {
        Create const create{{}, "default", "demo", {}, {}, {}, {}, {}, {}};
        server.runner->create(
            create, {{ActorType::token, "ann"}, "key", "digest"},
            [&](Result<Created> const& one) { made.push_back(one ? one->session : SessionId()); });
    }
    void ask_and_wait(SharedServer& server) {
        ask(server);
        loop.run();
    }

    std::vector<SessionId> made;  // the sessions of the answers
};

// The store falls back after B has found the session of the key, and before B reads it.
TEST_F(KeyedCreation, SessionOfAKeyIsLostMeanwhile_IsMadeAgainUnderItsKey) {
    auto const earlier = a.journal.disk->copy();
    ask_and_wait(a);
    int reads = 0;
    b.journal.before_read = [&] {
        if (++reads == 2) b.journal.disk->fall_back(earlier);
    };
    ask_and_wait(b);
    b.journal.before_read = {};
    ask_and_wait(b);
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(made[0], made[1]);
    EXPECT_EQ(made[1], made[2]);
}

// As before, but A has made another session under the key when B reads the lost one.
TEST_F(KeyedCreation, SessionOfAKeyIsMadeAgainElsewhere_IsTheAnswer) {
    auto const earlier = a.journal.disk->copy();
    ask_and_wait(a);
    int reads = 0;
    b.journal.before_read = [&] {
        if (++reads != 2) return;
        b.journal.disk->fall_back(earlier);
        b.journal.hold_reads = true;
    };
    ask_and_wait(b);
    ask_and_wait(a);
    b.journal.release_reads();
    loop.run();
    ASSERT_EQ(made.size(), 3U);
    EXPECT_NE(made[0], made[1]);
    EXPECT_EQ(made[2], made[1]);
}

}  // namespace
}  // namespace dormouse::runner::testing
