#include "session/budget/budget.h"

#include "base/text/duration.h"
#include "base/text/text.h"
#include "session/decide/decider.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/submission.h"

#include <algorithm>
#include <array>
#include <cmath>

// Budgets are checked before the intent of a step: what was requested before is complete then, and
// a raise continues with exactly that step.
namespace dormouse::session {

namespace {

constexpr std::int64_t micros = 1'000'000;

// "1.5", "0.000002"
std::string decimal(std::int64_t amount) {
    std::string fraction = std::to_string(micros + amount % micros).substr(1);
    while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
    return std::to_string(amount / micros) + (fraction.empty() ? "" : "." + fraction);
}

std::int64_t of_total(DayTotals const& totals, std::string const& name) {
    auto const found = totals.find(name);
    return found == totals.end() ? 0 : found->second;
}

// Returns the use of the budget of a day, and its limit with raises: the sums of all sessions, and
// what this one has added to them since.
BudgetUse use_of_day(Decider const& d, BudgetName const& name, std::int64_t limit) {
    FITS(of_day(name.per) && d.context.found.totals);
    BudgetOwner const owner{d.state.project, d.state.agent};
    BudgetUse use{name, limit, 0, limit};
    use.used = of_total(*d.context.found.totals, total_name(name, owner)) +
               meter_of(d.state).of(name) - d.context.counted.of(name);
    use.limit += of_total(*d.context.found.totals, raises_name(name, owner));
    for (Event const& event : d.events) {
        auto const* const raised = std::get_if<BudgetRaised>(&event.body);
        if (raised && raised->what.name == name) use.limit += raised->what.amount;
    }
    return use;
}

BudgetUse use_of(Decider const& d, Budget const& budget) {
    if (of_day(budget.name.per)) return use_of_day(d, budget.name, budget.limit);
    FITS(d.state.turn.has_value());
    OpenTurn const& turn = *d.state.turn;
    bool const of_turn = budget.name.per == BudgetPer::turn;
    BudgetMeter const meter =
        of_turn ? BudgetMeter{turn.usage, turn.step, turn.worked} : meter_of(d.state);
    auto const& raises = of_turn ? turn.raised : d.state.raised;
    return {budget.name, budget.limit + raised(raises, budget.name), meter.of(budget.name),
            budget.limit};
}

bool concerns(Budget const& budget, std::string const& project) {
    return budget.projects.empty() ||
           std::ranges::find(budget.projects, project) != budget.projects.end();
}

// False: the sums that it is compared with were not read.
bool is_known(Decider const& d, Budget const& budget) {
    return !of_day(budget.name.per) || d.context.found.totals;
}

// nullopt: something is left.
std::optional<BudgetUse> used_up(Decider const& d, Budget const& budget) {
    if (!concerns(budget, d.state.project) || !is_known(d, budget)) return std::nullopt;
    BudgetUse const use = use_of(d, budget);
    return use.used < use.limit ? std::nullopt : std::optional(use);
}

// Time above a second in whole seconds, as limits are written.
std::string used_text(BudgetUse const& use) {
    constexpr std::int64_t second = 1'000;
    bool const rounds = use.name.kind == BudgetKind::wall_time && use.used > second;
    return amount_text(use.name, rounds ? use.used / second * second : use.used);
}

CallSpec spec_of(BudgetUse const& use) {
    FITS(use.used >= use.limit);
    CallSpec out;
    out.tool = budget_tool;
    out.input = object_json("budget", text(use.name.per), "used", used_text(use), "limit",
                            amount_text(use.name, use.limit));
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
    FITS(use.name == budget.name);
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
    return fail(Code::invalid_result, "The answer's content.raise must be " + expected + ".",
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

// Why the turn's question is obsolete: something is left of its budget now, or it was removed from
// the configuration. nullopt: it is not, or there is none.
std::optional<std::string> obsolete_question(Decider const& d) {
    if (!d.state.turn || d.state.turn->budget_call == 0 || !d.context.budgets) return std::nullopt;
    auto const& asked = d.state.calls.at(d.state.turn->budget_call).spec.budget;
    FITS(asked.has_value());
    bool exists = false;
    for (Budget const& budget : *d.context.budgets) {
        if (budget.name != asked->name || !concerns(budget, d.state.project)) continue;
        if (!is_known(d, budget) || used_up(d, budget)) return std::nullopt;
        exists = true;
    }
    return exists ? "the budget has something left again" : "the budget was removed";
}

void end_at_budget(Decider& d, std::string const& who, BudgetUse const& use) {
    FITS(use.used >= 0);
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
    constexpr std::array<std::string_view, 4> owners{"The turn", "The session", "The agent",
                                                     "The project"};
    std::string out(owners.at(static_cast<std::size_t>(use.name.per)));
    out += use.name.kind == BudgetKind::wall_time ? " has worked for " : " has used ";
    out += used_text(use);
    if (of_day(use.name.per)) out += " today";
    return out + "; its budget is " + amount_text(use.name, use.limit) + ".";
}

Result<std::int64_t> raise_in(BudgetUse const& use, Json const& content) {
    if (content.is_null()) return use.raise;
    json::View const value = json::View(content)["raise"];
    if (!value.exists() || json::View(content).size() != 1)
        return fail(Code::invalid_result,
                    R"(The answer's content must be {"raise": AMOUNT}, or be left out.)",
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
    FITS(d.state.turn && d.state.turn->budget_call == 0);
    if (!d.context.budgets) return false;
    for (Budget const& budget : *d.context.budgets) {
        auto const use = used_up(d, budget);
        if (!use) continue;
        PendingId const pending{d.state.id, d.state.calls_ever + 1, 1, d.draw()};
        PauseTerms const terms = with_reminders(d, terms_of(budget, *use));
        auto deadline = deadline_of(terms, {}, d.at);
        if (of_day(budget.name.per))
            deadline = std::min(deadline.value_or(next_day(d.at)), next_day(d.at));
        d.emit(BudgetReached{pending, spec_of(*use), d.state.turn->step, d.state.turn->input, terms,
                             deadline});
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
    bool const of_sums = of_day(use.name.per) && d.context.found.totals;
    BudgetUse const now = of_sums ? use_of_day(d, use.name, use.raise) : use;
    FITS(now.name == use.name);
    std::int64_t const beyond = std::max<std::int64_t>(0, now.used - now.limit);
    std::int64_t const amount = beyond + raise_in(use, what.content).value_or(use.raise);
    FITS(amount >= 0);
    d.emit(BudgetRaised{call, {use.name, amount}, d.command.by});
}

void withdraw_question(Decider& d) {
    bool const active = d.state.lifecycle == Lifecycle::active;
    auto const why = active ? obsolete_question(d) : std::nullopt;
    if (!why) return;
    FITS(d.state.turn.has_value());
    CallNo const no = d.state.turn->budget_call;
    FITS(d.state.calls.at(no).phase == CallPhase::waiting);
    auto receipt = d.receipt(d.state.calls.at(no).pending, SubmissionKind::cancel,
                             CallStatus::cancelled, submitted_error("cancelled").digest);
    receipt.by = {};
    receipt.via = "runtime";
    d.emit(Cancelled{no, receipt, false, *why});
}

void expire_budget(Decider& d, BudgetUse const& use, Pause const& pause) {
    bool const next = pause.deadline && day_of(*pause.deadline) > day_of(pause.since);
    if (of_day(use.name.per) && next) return;  // the turn continues with the sums of the new day
    end_at_budget(d, "Nobody raised the budget in time.", use);
}

}  // namespace dormouse::session
