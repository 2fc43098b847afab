#pragma once
// The recent changes of pending calls, in the order in which they became visible, so that lists can
// return what is new (`changedSince`) and wait for it. In memory and bounded; older changes are
// found in the feed and by the times in the journal. On the loop.
//
// The wall clock may step back; the times here never do: as_of() is at least the newest time that
// was ever returned or noted, and a later change has a time that is not before it.

#include "runner/lane/lane.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace dormouse::http {

class Changes {
public:
    explicit Changes(Time start) : forgotten_until_(start), newest_(start) {}

    void note(SessionId session, std::string const& project,
              std::vector<wire::RecordPtr> const& records, Time now);

    // Returns the time for the next query: every later change has a time that is not before it.
    [[nodiscard]] Time as_of(Time now) { return newest_ = std::max(newest_, now); }
    // Returns true if every change at `since` or later is still known here. False if this process
    // has not reached `since`: another process returned it, by another clock.
    [[nodiscard]] bool remembers(Time since) const {
        return since > forgotten_until_ && since <= newest_;
    }
    // Returns the pending calls of the projects that changed at `since` or later, each once, newest
    // first.
    [[nodiscard]] std::vector<PendingId> since(port::Projects const& projects, Time since) const;

    // Calls `wake` once, at the next change in the projects, or of the session if one is named.
    [[nodiscard]] std::uint64_t watch(port::Projects projects, std::optional<SessionId> session,
                                      port::Fn<void()> wake);
    void unwatch(std::uint64_t id) { watchers_.erase(id); }
    [[nodiscard]] bool watched() const { return !watchers_.empty(); }

private:
    struct Change {
        Time seen{};
        std::string project;
        PendingId pending;
    };
    struct Watcher {
        port::Projects projects;
        std::optional<SessionId> session;
        port::Fn<void()> wake;
    };

    static constexpr std::size_t kept_max = 10'000;

    std::deque<Change> changes_;  // oldest first, also by `seen`
    Time forgotten_until_{};
    Time newest_{};
    std::map<std::uint64_t, Watcher> watchers_;
    std::uint64_t next_watcher_ = 0;
};

// Returns the pending calls that changed after `since`, read from the newest appends in the store,
// for a time that an earlier process returned. In the order of the feed, an append counts as later
// when it or one before it has a time that is not before `since`, or when the clock has stepped
// back before it, because its time then says nothing. May return too many, never too few. Blocks.
[[nodiscard]] Result<std::vector<PendingId>> changed_in_feed(port::FeedStore& store,
                                                             port::Projects const& projects,
                                                             Time since);

}  // namespace dormouse::http
