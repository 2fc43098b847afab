// Budgets of a day: days of UTC, and the names of the sums that the store keeps.
#include "session/budget/budget.h"

#include "base/check.h"
#include "session/state.h"

#include <algorithm>

namespace dormouse::session {

std::int64_t day_of(Time at) {
    return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
}

Time next_day(Time at) { return std::chrono::floor<std::chrono::days>(at) + std::chrono::days(1); }

std::string total_name(BudgetName const& name, BudgetOwner const& owner) {
    CHECK(of_day(name.per));
    bool const of_agent = name.per == BudgetPer::agent_day;
    std::string out = of_agent ? "agent/" + owner.agent : "project/" + owner.project;
    out += "/" + std::string(text(name.kind));
    return name.currency.empty() ? out : out + "/" + name.currency;
}

std::string raises_name(BudgetName const& name, BudgetOwner const& owner) {
    return total_name(name, owner) + std::string(raises_suffix);
}

std::vector<BudgetName> day_budgets(Budgets const& budgets) {
    std::vector<BudgetName> out;
    if (!budgets) return out;
    for (Budget const& budget : *budgets) {
        bool const known = std::ranges::find(out, budget.name) != out.end();
        if (of_day(budget.name.per) && !known) out.push_back(budget.name);
    }
    return out;
}

std::int64_t BudgetMeter::of(BudgetName const& name) const {
    switch (name.kind) {
        case BudgetKind::tokens: return usage.input_tokens + usage.output_tokens;
        case BudgetKind::cost: {
            auto const found = usage.cost.find(name.currency);
            return found == usage.cost.end() ? 0 : found->second;
        }
        case BudgetKind::steps: return steps;
        case BudgetKind::wall_time: return worked.count();
    }
    return 0;
}

BudgetMeter meter_of(State const& state) {
    return {state.usage, static_cast<std::int64_t>(state.steps), state.worked};
}

}  // namespace dormouse::session
