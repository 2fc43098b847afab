#include "session/fold/fold.h"

#include <algorithm>

// Budgets: the fold of questions and raises, and of the time that turns work.
namespace dormouse::session {

void ask_about_budget(State& state, Event const& event, BudgetReached const& e) {
    OpenTurn& turn = turn_of(state);
    FITS(e.spec->budget && turn.budget_call == 0);
    Call call = asked_call(state, event, e);
    turn.budget_call = call.no;
    call.pause->near_at = near_of(*call.pause, event.at);
    add_call(state, std::move(call));
}

void raise_budget(State& state, BudgetRaised const& e) {
    if (of_day(e.what.name.per)) return;  // the store keeps the sum
    FITS(e.what.amount >= 0);
    bool const of_turn = e.what.name.per == BudgetPer::turn;
    auto& raises = of_turn ? turn_of(state).raised : state.raised;
    auto const known = std::ranges::find(raises, e.what.name, &BudgetRaise::name);
    if (known == raises.end()) {
        raises.push_back(e.what);
    } else {
        constexpr std::int64_t most = std::int64_t{1} << 62;
        known->amount = std::min(most - e.what.amount, known->amount) + e.what.amount;
    }
}

void count_work(State& state, Time now) {
    if (!state.turn || !state.turn->terms.timed || now <= state.updated) return;
    Activity const before = activity(state);
    bool const works = before == Activity::busy || before == Activity::retry;
    if (!works || state.lifecycle != Lifecycle::active) return;
    state.turn->worked += now - state.updated;
    state.worked += now - state.updated;
}

}  // namespace dormouse::session
