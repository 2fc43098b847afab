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

// Describes the first promise that the scenario broke; empty: none.
std::string broken_by(std::uint32_t kind, std::vector<std::uint32_t> const& numbers) {
    World world(kind);
    play(world, numbers);
    if (!world.session.broken().empty()) return world.session.broken();
    if (!world.come_to_rest()) return "the session does not become idle";
    if (!world.session.broken().empty()) return world.session.broken();
    Ledger const ledger(world.session.archive.log);
    if (!ledger.broken().empty()) return ledger.broken();
    Lifecycle const lifecycle = world.session.state.lifecycle;
    bool const ended = lifecycle == Lifecycle::completed || lifecycle == Lifecycle::deleted;
    return ended || ledger.at_rest() ? "" : "something is open or unread at rest";
}

RC_GTEST_PROP(MailProperty, AnyScenario_EachMailIsReadOnceAndNoneIsLost, ()) {
    auto const kind = *rc::gen::inRange<std::uint32_t>(0, 12);
    RC_ASSERT(broken_by(kind, *rc::gen::container<std::vector<std::uint32_t>>(
                                  rc::gen::inRange<std::uint32_t>(0, 1U << 22U))) == std::string());
}

TEST(MailScenario, ReleasedMailExpiresBeforeItIsRead_TurnMayEnd) {
    EXPECT_EQ(broken_by(4, {831'113, 1'789'035, 1'703'936, 0}), "");
}

}  // namespace
}  // namespace dormouse::session::testing
