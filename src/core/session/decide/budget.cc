#include "session/budget.h"

#include "base/text/duration.h"
#include "base/text/text.h"
#include "session/decide/decider.h"
#include "session/decide/values.h"

#include <algorithm>
#include <cmath>

// Budgets are checked before the intent of a step: what was requested before is complete then, and
// a raise continues with exactly that step.
namespace dormouse::session {

namespace {

constexpr std::int64_t micros = 1'000'000;
constexpr std::string_view tool_name = "budget";

// "1.5", "0.000002"
std::string decimal(std::int64_t amount) {
    std::string fraction = std::to_string(micros + amount % micros).substr(1);
    while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
    return std::to_string(amount / micros) + (fraction.empty() ? "" : "." + fraction);
}

std::int64_t cost_in(Usage const& usage, std::string const& currency) {
    auto const found = usage.cost.find(currency);
    return found == usage.cost.end() ? 0 : found->second;
}

struct Used {
    Usage const& usage;
    std::int64_t steps;
    Duration worked;

    [[nodiscard]] std::int64_t of(BudgetName const& name) const {
        switch (name.kind) {
            case BudgetKind::tokens: return usage.input_tokens + usage.output_tokens;
            case BudgetKind::cost: return cost_in(usage, name.currency);
            case BudgetKind::steps: return steps;
            case BudgetKind::wall_time: return worked.count();
        }
        return 0;
    }
};

Used used_by(State const& state, BudgetPer per) {
    OpenTurn const& turn = *state.turn;
    if (per == BudgetPer::turn) return {turn.usage, turn.step, turn.worked};
    return {state.usage, static_cast<std::int64_t>(state.steps), state.worked};
}

// nullopt: something is left.
std::optional<BudgetUse> used_up(State const& state, Budget const& budget) {
    bool const concerns =
        budget.projects.empty() ||
        std::ranges::find(budget.projects, state.project) != budget.projects.end();
    if (!concerns) return std::nullopt;
    auto const& raises = budget.name.per == BudgetPer::turn ? state.turn->raised : state.raised;
    BudgetUse use{budget.name, budget.limit + raised(raises, budget.name),
                  used_by(state, budget.name.per).of(budget.name), budget.limit};
    return use.used < use.limit ? std::nullopt : std::optional(use);
}

CallSpec spec_of(BudgetUse const& use) {
    CallSpec out;
    out.tool = tool_name;
    out.input = object_json("budget", text(use.name.per), "used", amount_text(use.name, use.used),
                            "limit", amount_text(use.name, use.limit));
    out.input_digest = sha256(json::canonical(out.input));
    out.budget = use;
    return out;
}

// JSON Schema of a decision's content.
Json form_of(BudgetUse const& use) {
    BudgetName const& name = use.name;
    std::int64_t const most = use.raise * budget_raise_factor_max;
    json::Writer out;
    out.begin_object().member("type", "object").key("properties").begin_object();
    out.key("raise").begin_object();
    switch (name.kind) {
        case BudgetKind::tokens:
        case BudgetKind::steps:
            out.member("type", "integer")
                .member("title", "Raise by (" + std::string(text(name.kind)) + ")");
            out.member("minimum", 1).member("maximum", most).member("default", use.raise);
            break;
        case BudgetKind::cost:
            out.member("type", "number").member("title", "Raise by (" + name.currency + ")");
            out.member("minimum", 0).key("maximum").raw(decimal(most));
            out.key("default").raw(decimal(use.raise));
            break;
        case BudgetKind::wall_time:
            out.member("type", "string").member("title", "Raise by (a time such as 30m)");
            out.member("default", amount_text(name, use.raise));
    }
    return out.end_object().end_object().end_object().json();
}

PauseTerms terms_of(Budget const& budget, BudgetUse const& use) {
    PauseTerms out;
    out.reason = PauseReason::budget;
    out.continuation = default_continuation(out.reason);
    out.message = budget_text(use) + " Raise it, or end the turn?";
    out.form = form_of(use);
    out.answer = budget.answer;
    out.timeout = budget.timeout;
    out.warn_before = budget.warn_before;
    return out;
}

std::unexpected<Error> bad_raise(std::string const& expected) {
    return fail(Code::invalid_result,
                "content.raise must be " + expected + "; the call still waits.",
                member_error("/content/raise", "must be " + expected));
}

// The amount as it is written; nullopt: it is not an amount of this kind.
std::optional<std::int64_t> amount_in(BudgetName const& name, json::View value) {
    if (name.kind == BudgetKind::wall_time) {
        auto const duration = parse_duration(value.string_or(""));
        return duration ? std::optional<std::int64_t>(duration->count()) : std::nullopt;
    }
    if (name.kind != BudgetKind::cost) return value.integer();
    auto const number = value.number();
    bool const fits = number && std::abs(*number) < static_cast<double>(budget_limit_max);
    if (!fits) return std::nullopt;
    return std::llround(*number * static_cast<double>(micros));
}

void end_at_budget(Decider& d, std::string const& who, BudgetUse const& use) {
    end_turn(d, FinishReason::budget, Trouble{"budget_reached", who + " " + budget_text(use)},
             "the turn ended at its budget");
}

}  // namespace

std::string amount_text(BudgetName const& name, std::int64_t amount) {
    switch (name.kind) {
        case BudgetKind::tokens: return std::to_string(amount) + " tokens";
        case BudgetKind::cost: return decimal(amount) + " " + name.currency;
        case BudgetKind::steps: return std::to_string(amount) + (amount == 1 ? " step" : " steps");
        case BudgetKind::wall_time: break;
    }
    return duration_text(Duration(amount));
}

std::string budget_text(BudgetUse const& use) {
    std::string out = use.name.per == BudgetPer::turn ? "The turn has " : "The session has ";
    out += use.name.kind == BudgetKind::wall_time ? "worked for " : "used ";
    return out + amount_text(use.name, use.used) + "; its budget is " +
           amount_text(use.name, use.limit) + ".";
}

Result<std::int64_t> raise_in(BudgetUse const& use, Json const& content) {
    if (content.is_null()) return use.raise;
    json::View const value = json::View(content)["raise"];
    if (!value.exists() || json::View(content).size() != 1)
        return fail(Code::invalid_result,
                    R"(content must be {"raise": AMOUNT}, or be left out; the call still waits.)",
                    member_error("/content", R"(must be {"raise": AMOUNT}, or be left out)"));
    std::int64_t const most = use.raise * budget_raise_factor_max;
    auto const amount = amount_in(use.name, value);
    if (amount && *amount > 0 && *amount <= most) return *amount;
    std::string const upto = "more than 0 and at most " + amount_text(use.name, most);
    switch (use.name.kind) {
        case BudgetKind::tokens:
        case BudgetKind::steps: return bad_raise("a whole number, " + upto);
        case BudgetKind::cost: return bad_raise("a number of " + use.name.currency + ", " + upto);
        case BudgetKind::wall_time: break;
    }
    return bad_raise("a time such as \"30m\", " + upto);
}

std::int64_t raised(std::vector<BudgetRaise> const& raises, BudgetName const& name) {
    auto const found = std::ranges::find(raises, name, &BudgetRaise::name);
    return found == raises.end() ? 0 : found->amount;
}

bool ask_about_budget(Decider& d) {
    if (!d.context.budgets) return false;
    for (Budget const& budget : *d.context.budgets) {
        auto const use = used_up(d.state, budget);
        if (!use) continue;
        PendingId const pending{d.state.id, d.state.calls_ever + 1, 1, d.draw()};
        PauseTerms const terms = with_reminders(d, terms_of(budget, *use));
        d.emit(BudgetReached{pending, spec_of(*use), d.state.turn->step, d.state.turn->input, terms,
                             deadline_of(terms, {}, d.at)});
        return true;
    }
    return false;
}

std::optional<Error> refuse_raise(Call const& call, Offer const& offer) {
    if (!call.spec.budget || !offer.what.approved) return std::nullopt;
    auto const amount = raise_in(*call.spec.budget, offer.what.content);
    if (!amount) return amount.error();
    return std::nullopt;
}

void follow_budget(Decider& d, CallNo call, BudgetUse const& use, Submission const& what) {
    if (!what.approved) {
        std::string who = d.command.by.name.empty() ? "A person" : d.command.by.name;
        who += " ended the turn" + (what.reason.empty() ? "." : ": " + what.reason + ".");
        return end_at_budget(d, who, use);
    }
    // The amount counts from what is used: a raise that only covers what was used beyond the limit
    // would ask again at once.
    std::int64_t const beyond = std::max<std::int64_t>(0, use.used - use.limit);
    std::int64_t const amount = beyond + raise_in(use, what.content).value_or(use.raise);
    d.emit(BudgetRaised{call, {use.name, amount}, d.command.by});
}

void expire_budget(Decider& d, BudgetUse const& use) {
    end_at_budget(d, "Nobody raised the budget in time.", use);
}

}  // namespace dormouse::session
