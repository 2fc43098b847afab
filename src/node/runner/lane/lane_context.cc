// The values that a lane adds to a command before it is decided.
#include "runner/lane/lane.h"

#include "base/check.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

// The agent whose terms apply to a turn that the command starts: the session's, or the one that the
// command names if it creates the session.
std::string const& agent_of(State const& state, Command const& command) {
    if (auto const* create = std::get_if<Create>(&command.body)) return create->agent;
    auto const* deliver = std::get_if<Deliver>(&command.body);
    auto const* run = deliver ? std::get_if<StartRun>(&deliver->what) : nullptr;
    return run && state.lifecycle == Lifecycle::none ? run->agent : state.agent;
}

// The same for its project.
std::string const& project_of(State const& state, Command const& command) {
    if (auto const* create = std::get_if<Create>(&command.body)) return create->project;
    auto const* deliver = std::get_if<Deliver>(&command.body);
    auto const* run = deliver ? std::get_if<StartRun>(&deliver->what) : nullptr;
    return run && state.lifecycle == Lifecycle::none ? run->project : state.project;
}

}  // namespace

MailPolicy Lane::mail_policy(Command const& command) const {
    CHECK(state_);
    MailPolicy out = services_.settings.mail_policy(state_->project);
    auto const* const deliver = std::get_if<Deliver>(&command.body);
    auto const* const mail = deliver ? std::get_if<Mail>(&deliver->what) : nullptr;
    out.from_elsewhere = mail && services_.settings.may_mail(mail->project, state_->project);
    return out;
}

// Returns why the agent of the session or task that the command creates refuses it; empty: it does
// not, or the command creates none.
std::string Lane::refusal(Command const& command) const {
    CHECK(state_);
    if (auto const* const create = std::get_if<Create>(&command.body))
        return services_.agents.refusal(create->agent, create->project);
    auto const* const outcome = std::get_if<ToolOutcome>(&command.body);
    auto const* const ask =
        outcome ? std::get_if<TaskAsk>(&outcome->what) : std::get_if<TaskAsk>(&command.body);
    bool const makes =
        ask && (ask->what == TaskAsk::What::start || ask->what == TaskAsk::What::call);
    return makes ? services_.agents.refusal(ask->agent, state_->project) : "";
}

// A caller without rights for the session's project gets the answer for an unknown session.
bool Lane::may_touch(Rights const& rights) const {
    CHECK(state_);
    bool const exists = state_->lifecycle != Lifecycle::none;
    return !exists || rights.projects.empty() ||
           std::ranges::find(rights.projects, state_->project) != rights.projects.end();
}

Context Lane::context_of(Request& request) const {
    CHECK(state_);
    Command const& command = request.incoming.command;
    Context out;
    out.at = request.incoming.at;
    out.random = request.incoming.random;
    out.epoch = services_.nodes.epoch();
    out.abandoned = has_lost_driver();
    if (services_.agents.is_placed(agent_of(*state_, command))) out.node = services_.nodes.name();
    out.limits = services_.settings.limits();
    out.terms = services_.agents.terms(agent_of(*state_, command)).value_or(TurnTerms());
    out.budgets = services_.agents.budgets(agent_of(*state_, command));
    out.model_until = model_until();
    out.gates_not_begun = gates_not_begun(out.at);
    std::uint64_t const number = services_.numbers.next();
    out.next_session = number == 0 ? std::nullopt : std::optional(number);
    out.mail = mail_policy(command);
    out.tracing = services_.settings.tracing();
    out.refused = refusal(command);
    out.roles = request.incoming.rights.roles;
    out.found = found_for(command, std::move(request.found));
    out.rules = rules_for(command);
    out.counted = counted_;
    return out;
}

// A budget of a day is checked before a step, which an update of a running prompt never begins.
void Lane::want_totals(Incoming const& incoming, Wanted& wanted) const {
    CHECK(state_);
    if (std::holds_alternative<AgentReport>(incoming.command.body)) return;
    std::string const& agent = agent_of(*state_, incoming.command);
    BudgetOwner const owner{project_of(*state_, incoming.command), agent};
    wanted.day = day_of(incoming.at);
    for (BudgetName const& name : day_budgets(services_.agents.budgets(agent))) {
        wanted.totals.push_back(total_name(name, owner));
        wanted.totals.push_back(raises_name(name, owner));
    }
}

// Returns the amounts that the append adds to the sums of its day: the work of all its events, and
// raises.
std::vector<port::DayRow> Lane::day_sums(std::vector<wire::RecordPtr> const& records) const {
    CHECK(state_ && !records.empty());
    std::vector<port::DayRow> out;
    BudgetOwner const owner{state_->project, state_->agent};
    std::int64_t const day = day_of(records.back()->event.at);
    auto const add = [&](std::string name, std::int64_t amount) {
        if (amount > 0) out.push_back({day, std::move(name), amount});
    };
    for (BudgetName const& name : day_budgets(services_.agents.budgets(state_->agent))) {
        add(total_name(name, owner), meter_of(*state_).of(name) - counted_.of(name));
        std::int64_t raised = 0;
        for (wire::RecordPtr const& record : records) {
            auto const* const raise = std::get_if<BudgetRaised>(&record->event.body);
            if (raise && raise->what.name == name) raised += raise->what.amount;
        }
        add(raises_name(name, owner), raised);
    }
    return out;
}

}  // namespace dormouse::runner
