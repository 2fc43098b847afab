#include "http/streams/changes.h"

#include "wire/journal/history.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

namespace dormouse::http {

void Changes::note(SessionId session, std::string const& project,
                   std::vector<wire::RecordPtr> const& records, Time now) {
    Time const seen = as_of(now);
    std::size_t count = 0;
    for (wire::RecordPtr const& record : records) {
        for (PendingId const& pending : wire::touched(record->event)) {
            changes_.push_back({seen, project, pending});
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
        bool const concerned = one.session ? *one.session == session : one.projects.has(project);
        if (concerned) woken.push_back(std::move(one.wake));
        it = concerned ? watchers_.erase(it) : std::next(it);
    }
    for (auto& wake : woken) wake();
}

void Changes::missed(Time now) {
    forgotten_until_ = as_of(now);
    changes_.clear();
    for (auto& [id, one] : std::exchange(watchers_, {})) one.wake();
}

std::vector<PendingId> Changes::since(port::Projects const& projects, Time since) const {
    std::vector<PendingId> out;
    std::set<PendingId> known;
    for (Change const& change : std::views::reverse(changes_)) {
        if (change.seen < since) break;
        bool const is_new = projects.has(change.project) && known.insert(change.pending).second;
        if (is_new) out.push_back(change.pending);
    }
    return out;
}

namespace {

constexpr std::uint64_t feed_rows_max = 4'096;
constexpr unsigned writer_bits = 8;
constexpr std::size_t feed_page_bytes = std::size_t{1} << 20;
// Appends of two sessions may be stored in another order than they were decided in.
constexpr Duration disorder_max = append_takes_at_most;

// Follows the times of the appends in a feed.
class FeedTimes {
public:
    explicit FeedTimes(Time since) : since_(since) {}

    // Returns whether the next append in the feed, which has this time, is later than `since`.
    bool is_behind(Time at) {
        stepped_back_ = stepped_back_ || at < newest_ - disorder_max;
        newest_ = std::max(newest_, at);
        return stepped_back_ || newest_ >= since_;
    }

private:
    Time since_;
    Time newest_ = Time::min() + disorder_max;
    bool stepped_back_ = false;
};

// Empty of a deleted session and of a damaged append, which other readers report.
std::vector<wire::RecordPtr> records_of(port::FeedRow const& row) {
    if (row.deleted) return {};
    auto records = wire::unpack(row.session, row.frame.first, row.frame.bytes);
    return records ? *std::move(records) : std::vector<wire::RecordPtr>();
}

void collect(std::vector<wire::RecordPtr> const& records, std::set<PendingId>& found) {
    for (wire::RecordPtr const& record : records) {
        auto const touched = wire::touched(record->event);
        found.insert(touched.begin(), touched.end());
    }
}

}  // namespace

Result<ChangedAfter> changed_in_feed(port::FeedStore& store, port::Projects const& projects,
                                     Time since, FeedNumbers numbers) {
    auto const head = store.feed_head();
    if (!head) return std::unexpected(head.error());
    std::set<PendingId> found;
    FeedTimes times(since);
    auto const span = feed_rows_max << (numbers == FeedNumbers::dense ? 0 : writer_bits);
    std::uint64_t next = *head > span ? *head - span : 0;
    for (bool more = true; more;) {
        auto const page = store.feed(projects, next, feed_page_bytes);
        if (!page) return std::unexpected(page.error());
        if (page->gone) break;
        for (port::FeedRow const& row : page->rows) {
            auto const records = records_of(row);
            if (records.empty() || !times.is_behind(records.front()->event.at)) continue;
            collect(records, found);
        }
        more = page->more && page->next > next;
        next = page->next;
    }
    return ChangedAfter{.calls = {found.begin(), found.end()}, .next = next};
}

Result<ChangedAfter> changed_after(port::FeedStore& store, port::Projects const& projects,
                                   std::uint64_t place) {
    ChangedAfter out;
    std::set<PendingId> found;
    std::optional<Time> first;
    std::uint64_t rows = 0;
    for (bool more = true; more;) {
        auto const page = store.feed(projects, place, feed_page_bytes);
        if (!page) return std::unexpected(page.error());
        if (page->gone) return ChangedAfter{.since = Time{}};
        for (port::FeedRow const& row : page->rows) {
            auto const records = records_of(row);
            if (!records.empty()) first = first.value_or(records.front()->event.at);
            collect(records, found);
        }
        rows += page->rows.size();
        more = page->more && page->next > place;
        place = page->next;
        if (!more || rows < feed_rows_max) continue;
        out.since = first.value_or(Time{}) - disorder_max;
        break;
    }
    out.calls.assign(found.begin(), found.end());
    out.next = place;
    return out;
}

std::uint64_t Changes::watch(port::Projects projects, std::optional<SessionId> session,
                             port::Fn<void()> wake) {
    watchers_.emplace(++next_watcher_, Watcher{std::move(projects), session, std::move(wake)});
    return next_watcher_;
}

}  // namespace dormouse::http
