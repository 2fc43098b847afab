// A raised budget of a day lets all sessions continue that ask about it: at once in the process
// that stored the raise, and once more some seconds later in the one that leads, which compares the
// sums of the raises with those it saw before. The second time is for sessions that did not know
// the raise when they began to ask, and for a process that ended after the raise. A larger or
// removed budget of the configuration lets all continue that ask about it: in each process that
// reads it, at its start or at a reload.
#include "runner/runner.h"
#include "session/budget/budget.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t askers_a_page = 200;
constexpr Duration budgets_every{10'000};

bool raises_a_day(wire::RecordPtr const& record) {
    auto const* const raised = std::get_if<BudgetRaised>(&record->event.body);
    return raised && of_day(raised->what.name.per);
}

}  // namespace

void Runner::appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) {
    observer_.appended(lane, records);
    if (std::ranges::any_of(records, raises_a_day)) wake_askers({});
}

// Sessions that began to ask by the former budgets a moment ago are woken by watch_budgets().
void Runner::budgets_changed() {
    wake_askers_again_ = true;
    wake_askers({});
}

void Runner::wake_askers(std::optional<PendingId> before) {
    port::PendingFilter filter;
    filter.project = port::Projects::all();
    filter.statuses = {port::PendingStatus::waiting};
    filter.tool = budget_tool;
    filter.before = before;
    filter.limit = askers_a_page;
    auto use = [this](Result<std::vector<port::PendingListed>> const& found) {
        if (draining_ || failed_ || held()) return;
        if (!found) {
            wake_askers_again_ = true;
            return;
        }
        for (port::PendingListed const& one : *found) wake_asker(one.session);
        if (found->size() < askers_a_page) return;
        port::PendingListed const& last = found->back();
        wake_askers(PendingId{last.session, last.row.call, last.row.generation, {}});
    };
    port::ask(
        services_.journal,
        [filter](port::PendingStore& store) { return store.list_pending(filter); },
        scope_.guard(std::move(use)));
}

void Runner::wake_asker(SessionId session) {
    lane(session)->receive(
        make(Tick{}, {}), [this, alive = scope_.token()](Result<Answer> const& answer) {
            bool const again = !answer && info(answer.error().code).next == Next::retry;
            if (alive && again) wake_askers_again_ = true;
        });
}

// Called by each scan. Without raises it costs one query about every ten seconds.
void Runner::watch_budgets() {
    if (draining_ || held() || monotonic() < budgets_at_) return;
    budgets_at_ = monotonic() + budgets_every;
    if (std::exchange(wake_askers_again_, false)) wake_askers({});
    if (!services_.nodes.leads()) return raises_.reset();
    auto question = [day = day_of(now()),
                     first = !raises_](port::JournalStore& store) -> Result<DayMarks> {
        auto const raises = store.day_mark(day, std::string(raises_suffix));
        if (!raises) return std::unexpected(raises.error());
        auto const all = first ? store.day_mark(day, "") : raises;
        if (!all) return std::unexpected(all.error());
        return DayMarks{.day = day, .raises = *raises, .used = *all != 0};
    };
    auto use = [this](Result<DayMarks> const& found) {
        if (found && !draining_ && !failed_) compare_raises(*found);
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)));
}

// A process that begins to lead does not know what others had no time for, or by which budgets the
// sessions began to ask.
void Runner::compare_raises(DayMarks const& found) {
    bool const first = !raises_;
    bool const same = raises_ && raises_->day == found.day && raises_->raises == found.raises;
    raises_ = found;
    if (first && found.used) return wake_askers({});
    if (!first && !same && found.raises != 0) wake_askers_again_ = true;
}

}  // namespace dormouse::runner
