#pragma once
// The recent changes of pending calls, in the order in which they became visible, so that lists can
// return what is new (`changedSince`) and wait for it. In memory and bounded; older changes are
// found in the feed and by the times in the journal. On the loop.
//
// The wall clock may step back; the times here never do: as_of() is at least the newest time that
// was ever returned or noted, and a later change has a time that is not before it.

#include "runner/lane/lane.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

// An opaque cursor for `changedSince`: a time in ms if one process uses the store, else a position
// in the feed, because a change reaches memory at another time in each process, but all read the
// same feed. Feed positions are larger than all times.
class AsOf {
public:
    static constexpr std::uint64_t most = std::uint64_t{1} << 53;

    explicit AsOf(std::uint64_t number) : number_(number) {}
    explicit AsOf(Time time) : number_(static_cast<std::uint64_t>(to_ms(time))) {}
    [[nodiscard]] static AsOf place(std::uint64_t feed) { return AsOf(first_place + feed); }

    [[nodiscard]] bool is_place() const { return number_ >= first_place; }
    [[nodiscard]] std::uint64_t feed() const { return number_ - first_place; }
    [[nodiscard]] Time time() const { return from_ms(static_cast<std::int64_t>(number_)); }
    [[nodiscard]] std::uint64_t number() const { return number_; }

private:
    static constexpr std::uint64_t first_place = most / 2;
    std::uint64_t number_;
};

class Changes {
public:
    explicit Changes(Time start) : forgotten_until_(start), newest_(start) {}

    void note(SessionId session, std::string const& project,
              std::vector<wire::RecordPtr> const& records, Time now);

    // Changes may have become visible that were not noted: those until now are not known here.
    // Wakes all watchers.
    void missed(Time now);

    // Returns the time for the next query: every later change has a time that is not before it.
    [[nodiscard]] Time as_of(Time now) { return newest_ = std::max(newest_, now); }
    // Returns true if every change at `since` or later is still known here. False if this process
    // has not reached `since`: another process returned it, by another clock.
    [[nodiscard]] bool remembers(Time since) const {
        return since > forgotten_until_ && since <= newest_;
    }
    // Everything up to `feed` can be read. Returns the place for the next query: the largest such
    // place, because a writer that is in a call can hide what could be read before.
    [[nodiscard]] std::uint64_t place(std::uint64_t feed) {
        return place_ = std::max(place_, feed);
    }
    // Whether something was noted at `since` or later.
    [[nodiscard]] bool noted(Time since) const {
        return !changes_.empty() && changes_.back().seen >= since;
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
    std::uint64_t place_ = 0;
    std::map<std::uint64_t, Watcher> watchers_;
    std::uint64_t next_watcher_ = 0;
};

// An event's time is earlier than the moment it becomes visible, by at most this.
inline constexpr Duration append_takes_at_most{5'000};

// How a store numbers its feed: each append by one more, or with the writer in the low 8 bits.
enum class FeedNumbers : std::uint8_t { dense, with_writer };

struct ChangedAfter {
    std::vector<PendingId> calls = {};
    // Set if the feed does not have everything after the place, or has too much of it: calls that
    // changed since this time count, too.
    std::optional<Time> since = {};
    // The place up to which the feed was read: what changes later is after it. nullopt: not read.
    std::optional<std::uint64_t> next = {};
};

// Returns the pending calls that changed after `since`, read from the newest appends in the store,
// for a time that an earlier process returned. In the order of the feed, an append counts as later
// when it or one before it has a time that is not before `since`, or when the clock has stepped
// back before it, because its time then says nothing. May return too many, never too few. Blocks.
[[nodiscard]] Result<ChangedAfter> changed_in_feed(port::FeedStore& store,
                                                   port::Projects const& projects, Time since,
                                                   FeedNumbers numbers = FeedNumbers::dense);

// Returns the pending calls that changed after a place in the feed. Blocks.
[[nodiscard]] Result<ChangedAfter> changed_after(port::FeedStore& store,
                                                 port::Projects const& projects,
                                                 std::uint64_t place);

}  // namespace dormouse::http
