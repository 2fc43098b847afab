#include "session/testing/ledger.h"
#include "session/testing/world.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ostream>

// Random sequences of commands, crashes, late and repeated deliveries, and clock steps. After each
// command the fixture checks that the live state equals the fold of the log, that derived data is
// consistent, that no pause has two outcomes, that decisions are deterministic, that a refusal
// writes only what fell due, and that the session is in one class of rule 15.
namespace dormouse::session::testing {

// Rapidcheck prints failing scenarios with it.
std::ostream& operator<<(std::ostream& out, Step const& step) {
    return out << "{Deed(" << static_cast<int>(step.deed) << "), " << step.a << ", " << step.b
               << '}';
}

namespace {

using Story = std::vector<Step>;

rc::Gen<Story> stories() {
    auto const deed = rc::gen::weightedElement<Deed>({{4, Deed::prompt},
                                                      {12, Deed::answer},
                                                      {8, Deed::reply},
                                                      {3, Deed::trouble},
                                                      {10, Deed::deliver},
                                                      {2, Deed::late_outcome},
                                                      {1, Deed::cancel},
                                                      {4, Deed::time},
                                                      {2, Deed::crash},
                                                      {1, Deed::move},
                                                      {1, Deed::worker},
                                                      {5, Deed::task},
                                                      {6, Deed::elsewhere}});
    auto const number = rc::gen::inRange<std::uint32_t>(0, 64);
    auto const step =
        rc::gen::apply([](Deed d, std::uint32_t a, std::uint32_t b) { return Step{d, a, b}; }, deed,
                       number, number);
    return rc::gen::container<Story>(step);
}

rc::Gen<std::uint32_t> kinds() { return rc::gen::inRange<std::uint32_t>(0, 18); }

void play(World& world, Story const& story) {
    for (Step const& step : story) world.step(step);
}

RC_GTEST_PROP(Property, AnyScenario_KeepsInvariantsAndBecomesIdle, ()) {
    World world(*kinds());
    play(world, *stories());
    RC_ASSERT(world.session.broken() == std::string());
    RC_ASSERT(world.come_to_rest());
    RC_ASSERT(world.session.broken() == std::string());
    Ledger const ledger(world.session.archive.log);
    RC_ASSERT(ledger.broken() == std::string());
    RC_ASSERT(ledger.at_rest());
    RC_ASSERT(world.session.archive.waiting_rows().empty());
}

// Appends are atomic, so a log ends between two of them.
std::vector<std::size_t> appends(World& world, Story const& story) {
    std::vector<std::size_t> ends;
    for (Step const& step : story) {
        world.step(step);
        ends.push_back(world.session.archive.log.size());
    }
    return ends;
}

RC_GTEST_PROP(Property, AnyPrefixOfALog_AdoptedBecomesIdle, ()) {
    World world(*kinds());
    auto const ends = appends(world, *rc::gen::nonEmpty(stories()));
    std::size_t const end = ends[*rc::gen::inRange<std::size_t>(0, ends.size())];
    World again(world.session.after(end));
    (void)again.session.adopt();
    RC_ASSERT(types(again.session.adopt()) == std::string());
    RC_ASSERT(again.come_to_rest());
    RC_ASSERT(again.session.broken() == std::string());
    Ledger const ledger(again.session.archive.log);
    RC_ASSERT(ledger.broken() == std::string());
    RC_ASSERT(ledger.at_rest());
}

// Receipts never change: a late delivery finds the same outcome.
RC_GTEST_PROP(Property, SettledCalls_AnswerTheSameForever, ()) {
    World world(*kinds());
    play(world, *stories());
    auto const receipts = world.session.archive.receipts;
    play(world, *stories());
    for (auto const& [pending, receipt] : receipts) {
        RC_ASSERT(world.session.archive.receipts.at(pending) == receipt);
        if (receipt.kind != SubmissionKind::result ||
            world.session.state.lifecycle == Lifecycle::deleted)
            continue;
        Submission same;
        same.digest = receipt.digest;
        auto const d = world.session.submit(pending, same);
        RC_ASSERT(answer_of(d) == std::string("duplicate"));
        RC_ASSERT(d.answer->receipt == receipt);
    }
    RC_ASSERT(world.session.broken() == std::string());
}

}  // namespace
}  // namespace dormouse::session::testing
