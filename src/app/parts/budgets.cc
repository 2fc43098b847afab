#include "app/parts/budgets.h"

#include "session/budget/budget.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace dormouse::app {

using session::BudgetKind;

namespace {

// One limit for each amount.
void add(std::vector<session::Budget>& out, config::Budget const& from) {
    session::Budget one;
    one.name.per = from.per;
    one.projects = from.projects;
    one.answer.from = from.answerers;
    one.timeout = from.timeout;
    one.warn_before = from.warn_before;
    auto const limit = [&](BudgetKind kind, std::int64_t amount) {
        one.name.kind = kind;
        one.name.currency = kind == BudgetKind::cost ? from.currency : "";
        one.limit = amount;
        out.push_back(one);
    };
    if (from.tokens) limit(BudgetKind::tokens, *from.tokens);
    if (from.cost) limit(BudgetKind::cost, from.cost->micros);
    if (from.steps) limit(BudgetKind::steps, *from.steps);
    if (from.wall_time) limit(BudgetKind::wall_time, from.wall_time->count());
}

std::vector<session::Budget> budgets_of(config::Config const& config, std::string const& agent) {
    std::vector<session::Budget> out;
    for (config::Budget const& budget : config.budgets) {
        bool const all = budget.agents.empty();
        if (all || std::ranges::find(budget.agents, agent) != budget.agents.end()) add(out, budget);
    }
    return out;
}

}  // namespace

void set_budgets(agent::Registry& registry, config::Config const& config) {
    if (config.budgets.empty()) return;
    for (agent::Agent const& agent : registry.agents()) {
        auto budgets = budgets_of(config, agent.id);
        if (budgets.empty()) continue;
        registry.set_budgets(agent.id,
                             std::make_shared<std::vector<session::Budget>>(std::move(budgets)));
    }
}

}  // namespace dormouse::app
