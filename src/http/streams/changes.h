#pragma once
// What changed lately about pending calls, in the order in which it could be seen, so that lists
// can be asked for what is new (`changedSince`) and can wait for it. In memory and bounded; what is
// older is found in the feed and by the times in the journal. On the loop.
//
// The wall clock may step back. So the times here never do: as_of() is at least the newest time
// that was ever given out or noted, and a later change has a time that is not before it.

#include "runner/lane.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace dormouse::server {

class Changes {
public:
    explicit Changes(Time start) : forgotten_until_(start), newest_(start) {}

    void note(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records, Time now);

    // The time to ask on with: what is noted from now on has one that is not before it.
    [[nodiscard]] Time as_of(Time now) { return newest_ = std::max(newest_, now); }
    // Whether everything that changed at `since` or later is still known here. Not when `since` is
    // a time that this process has not reached: another process gave it out, by another clock.
    [[nodiscard]] bool remembers(Time since) const {
        return since > forgotten_until_ && since <= newest_;
    }
    // The pending calls of a project that changed at `since` or later, each once, newest first.
    [[nodiscard]] std::vector<PendingId> since(std::string const& project, Time since) const;

    // `wake` is called with the next change in the project, or of the session if one is named,
    // and then no more.
    [[nodiscard]] std::uint64_t watch(std::string project, std::optional<SessionId> session,
                                      port::Fn<void()> wake);
    void unwatch(std::uint64_t id) { watchers_.erase(id); }

private:
    struct Change {
        Time seen{};
        std::string project;
        PendingId pending;
    };
    struct Watcher {
        std::string project;
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

// The same from the newest appends in the store, for a time that an earlier process gave out: the
// pending calls that changed in an append that is behind `since`, by the order of the feed. An
// append is, when it or one before it has a time that is not before `since`, or when the clock has
// stepped back before it: then its own time says nothing. Too many rather than too few. Blocks.
[[nodiscard]] Result<std::vector<PendingId>> changed_in_feed(port::FeedStore& store,
                                                             std::string const& project,
                                                             Time since);

}  // namespace dormouse::server
