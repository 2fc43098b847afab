#include "session/testing/ledger.h"
#include "session/testing/letters.h"
#include "session/testing/world.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

// Mail between all other commands: mail that wakes is not lost, each mail is read once, and the
// session becomes idle.
namespace dormouse::session::testing {
namespace {

void play(World& world, std::vector<std::uint32_t> const& numbers) {
    Letters letters(world);
    for (std::uint32_t const n : numbers) {
        std::uint32_t const a = n >> 8 & 63U;
        std::uint32_t const b = n >> 16 & 63U;
        if (n % 2 == 0) {
            letters.step(a, b);
        } else {
            world.step({static_cast<Deed>((n >> 1) % 11), a, b});
        }
    }
}

RC_GTEST_PROP(MailProperty, AnyScenario_EachMailIsReadOnceAndNoneIsLost, ()) {
    World world(*rc::gen::inRange<std::uint32_t>(0, 12));
    play(world, *rc::gen::container<std::vector<std::uint32_t>>(
                    rc::gen::inRange<std::uint32_t>(0, 1U << 22U)));
    RC_ASSERT(world.session.broken() == std::string());
    RC_ASSERT(world.come_to_rest());
    RC_ASSERT(world.session.broken() == std::string());
    Ledger const ledger(world.session.archive.log);
    RC_ASSERT(ledger.broken() == std::string());
    Lifecycle const lifecycle = world.session.state.lifecycle;
    bool const ended = lifecycle == Lifecycle::completed || lifecycle == Lifecycle::deleted;
    RC_ASSERT(ended || ledger.at_rest());
}

}  // namespace
}  // namespace dormouse::session::testing
