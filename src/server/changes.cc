#include "server/changes.h"

#include "wire/history.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace dormouse::server {

void Changes::note(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records,
                   Time now) {
    std::string const& project = lane.state().project;
    std::size_t count = 0;
    for (wire::RecordPtr const& record : records) {
        for (PendingId const& pending : wire::touched(record->event)) {
            changes_.push_back({now, project, pending});
            ++count;
        }
    }
    if (count == 0) return;
    while (changes_.size() > kept_max) {
        forgotten_until_ = std::max(forgotten_until_, changes_.front().seen);
        changes_.pop_front();
    }
    std::vector<port::Fn<void()>> woken;
    for (auto it = watchers_.begin(); it != watchers_.end();) {
        Watcher& one = it->second;
        bool const concerned = one.session ? *one.session == lane.id() : one.project == project;
        if (concerned) woken.push_back(std::move(one.wake));
        it = concerned ? watchers_.erase(it) : std::next(it);
    }
    for (auto& wake : woken) wake();
}

std::vector<PendingId> Changes::since(std::string const& project, Time since) const {
    std::vector<PendingId> out;
    std::set<PendingId> known;
    for (Change const& change : std::views::reverse(changes_)) {
        if (change.seen < since) break;
        bool const is_new = change.project == project && known.insert(change.pending).second;
        if (is_new) out.push_back(change.pending);
    }
    return out;
}

std::uint64_t Changes::watch(std::string project, std::optional<SessionId> session,
                             port::Fn<void()> wake) {
    watchers_.emplace(++next_watcher_, Watcher{std::move(project), session, std::move(wake)});
    return next_watcher_;
}

}  // namespace dormouse::server
