#pragma once
// The quantities that budgets limit, and the use of a budget.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::session {

// agent_day, project_day: all sessions of the agent or project together, each day of UTC.
enum class BudgetPer : std::uint8_t { turn, session, agent_day, project_day };
enum class BudgetKind : std::uint8_t { tokens, cost, steps, wall_time };
[[nodiscard]] constexpr bool of_day(BudgetPer v) {
    return v == BudgetPer::agent_day || v == BudgetPer::project_day;
}
[[nodiscard]] std::string_view text(BudgetPer v);
[[nodiscard]] std::string_view text(BudgetKind v);

// Names a budget within a session.
struct BudgetName {
    BudgetPer per = BudgetPer::turn;
    BudgetKind kind = BudgetKind::tokens;
    std::string currency = {};  // of kind cost
    friend bool operator==(BudgetName const&, BudgetName const&) = default;
};

// Amounts are tokens, millionths of the currency, steps, or milliseconds.
struct BudgetUse {
    BudgetName name = {};
    std::int64_t limit = 0;  // with earlier raises
    std::int64_t used = 0;
    std::int64_t raise = 0;  // added by a person who names no other amount
    friend bool operator==(BudgetUse const&, BudgetUse const&) = default;
};

// An amount that people have added to a budget.
struct BudgetRaise {
    BudgetName name = {};
    std::int64_t amount = 0;
    friend bool operator==(BudgetRaise const&, BudgetRaise const&) = default;
};

}  // namespace dormouse::session
