#pragma once
// What changed lately about pending calls, by the moment at which it could first be seen, so that
// lists can be asked for what is new (`changedSince`) and can wait for it. In memory and bounded;
// what is older is found by the times in the journal. On the loop.

#include "runner/lane.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace dormouse::server {

class Changes {
public:
    explicit Changes(Time start) : forgotten_until_(start) {}

    void note(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records, Time now);

    // Whether everything that changed at `since` or later is still known here.
    [[nodiscard]] bool remembers(Time since) const { return since > forgotten_until_; }
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

    std::deque<Change> changes_;  // oldest first
    Time forgotten_until_{};
    std::map<std::uint64_t, Watcher> watchers_;
    std::uint64_t next_watcher_ = 0;
};

}  // namespace dormouse::server
