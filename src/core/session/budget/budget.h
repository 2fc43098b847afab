#pragma once
// Budgets: limits of what an agent uses, at which a session pauses and asks people. They are
// checked before each step, so that work under way is completed and kept.

#include "session/vocabulary.h"

#include <map>
#include <memory>

namespace dormouse::session {

// One limit of the configuration.
struct Budget {
    BudgetName name = {};
    std::int64_t limit = 0;                  // as BudgetUse
    std::vector<std::string> projects = {};  // empty: all
    AnswerTerms answer = {};
    std::optional<Duration> timeout = {};  // nullopt: the question does not expire
    std::optional<Duration> warn_before = {};
    friend bool operator==(Budget const&, Budget const&) = default;
};
// The budgets of one agent, in the order of the checks. May be null.
using Budgets = std::shared_ptr<std::vector<Budget> const>;

// Sums of a day are kept by the store; each append adds what it used.

// Days of UTC since 1970-01-01.
[[nodiscard]] std::int64_t day_of(Time at);
[[nodiscard]] Time next_day(Time at);
// Whom the sums of a session are of.
struct BudgetOwner {
    std::string project;
    std::string agent;
};
// Names the sum of what was used, and that of what people added. REQUIRES: of_day(name.per).
[[nodiscard]] std::string total_name(BudgetName const& name, BudgetOwner const& owner);
[[nodiscard]] std::string raises_name(BudgetName const& name, BudgetOwner const& owner);
// The names of the budgets of a day, each once.
[[nodiscard]] std::vector<BudgetName> day_budgets(Budgets const& budgets);
// The end of every raises_name().
inline constexpr std::string_view raises_suffix = "/raised";
// By name; a name that is missing is 0.
using DayTotals = std::map<std::string, std::int64_t>;

// The use of a session since it was created.
struct BudgetMeter {
    Usage usage = {};
    std::int64_t steps = 0;
    Duration worked{};
    [[nodiscard]] std::int64_t of(BudgetName const& name) const;
};

// The tool that the question about a budget names.
inline constexpr std::string_view budget_tool = "budget";

// A raise may be at most this many times BudgetUse::raise.
inline constexpr std::int64_t budget_raise_factor_max = 1'000;
inline constexpr std::int64_t budget_limit_max = 1'000'000'000'000'000;

// "20000 tokens", "1.5 USD", "12 steps", "30m".
[[nodiscard]] std::string amount_text(BudgetName const& name, std::int64_t amount);
// "The turn has used 21345 tokens; its budget is 20000 tokens."
[[nodiscard]] std::string budget_text(BudgetUse const& use);
// The amount in `raise` of a decision's content, or the default without content. The error names
// what is expected.
[[nodiscard]] Result<std::int64_t> raise_in(BudgetUse const& use, Json const& content);
// Returns the sum that people have added to the budget.
[[nodiscard]] std::int64_t raised(std::vector<BudgetRaise> const& raises, BudgetName const& name);

}  // namespace dormouse::session
