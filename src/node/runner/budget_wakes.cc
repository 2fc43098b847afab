// A raised budget of a day lets all sessions continue that ask about it.
#include "runner/runner.h"
#include "session/budget/budget.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t askers_a_page = 200;

bool raises_a_day(wire::RecordPtr const& record) {
    auto const* const raised = std::get_if<BudgetRaised>(&record->event.body);
    return raised && of_day(raised->what.name.per);
}

}  // namespace

void Runner::appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) {
    observer_.appended(lane, records);
    if (std::ranges::any_of(records, raises_a_day)) wake_askers({});
}

void Runner::wake_askers(std::optional<PendingId> before) {
    port::PendingFilter filter;
    filter.project = port::Projects::all();
    filter.statuses = {port::PendingStatus::waiting};
    filter.tool = budget_tool;
    filter.before = before;
    filter.limit = askers_a_page;
    auto use = [this](Result<std::vector<port::PendingListed>> const& found) {
        if (!found || draining_ || failed_) return;
        for (port::PendingListed const& one : *found)
            lane(one.session)->receive(make(Tick{}, {}), [](Result<Answer> const& /*answer*/) {});
        if (found->size() < askers_a_page) return;
        port::PendingListed const& last = found->back();
        wake_askers(PendingId{last.session, last.row.call, last.row.generation, {}});
    };
    port::ask(
        services_.journal,
        [filter](port::PendingStore& store) { return store.list_pending(filter); },
        scope_.guard(std::move(use)));
}

}  // namespace dormouse::runner
