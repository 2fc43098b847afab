#pragma once
// Tracks which processes work on a shared store, as one of them concludes from its own heartbeats.
// Pure: no clock of another machine is compared, and no process is declared dead by one whose own
// heartbeats fail.

#include <dormouse/id.h>
#include <dormouse/time.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace dormouse::runner {

class Membership {
public:
    // A process in the table of nodes. `counter`: of its heartbeats.
    struct Node {
        Epoch epoch = 0;
        std::uint64_t counter = 0;
        bool draining = false;  // takes no share of what is due
    };

    static constexpr Duration beat_every{1'000};
    static constexpr Duration start_limit{4'000};  // since the newest heartbeat was sent
    static constexpr Duration gone_after{5'000};   // without a change of the counter
    static constexpr Duration gap_max{2'000};      // between own heartbeats

    // All times are of the same clock of this machine, which also counts while it sleeps.

    // A heartbeat of `me`, sent at `sent`, has an answer at `now`: the table. Returns the processes
    // that must be removed from the table, if their counter is still the same.
    [[nodiscard]] std::vector<Node> arrived(Epoch me, Duration sent, Duration now,
                                            std::span<Node const> table);
    // The answer to a heartbeat was that this process is not in the table.
    void fenced() { sent_.reset(); }
    // This process takes part under a new epoch: what it saw before does not count.
    void rejoined();
    // This process removed another one from the table.
    void removed(Epoch epoch) {
        known_.erase(epoch);
        std::erase(sharing_, epoch);
    }

    // Returns true if effects may start: no process can have declared this one dead yet.
    [[nodiscard]] bool may_start(Duration now) const { return sent_ && now - *sent_ < start_limit; }
    // Returns true if the process of this epoch has left the table. A process that joined after the
    // newest heartbeat is not known yet, and not dead.
    [[nodiscard]] bool gone(Epoch epoch) const {
        return !known_.contains(epoch) && epoch <= newest_;
    }
    // Returns true if the process of this epoch was in the table at the newest heartbeat, or may
    // have joined since then. An epoch that no table has had, as in a session of another store, is
    // believed until a heartbeat has an answer that was sent after the first question.
    [[nodiscard]] bool works(Epoch epoch) const {
        return known_.contains(epoch) || (epoch > newest_ && may_be_new(epoch));
    }
    // Returns true if `me` handles the due work of this session number: the processes share it by
    // number. Overdue work is handled by any process.
    [[nodiscard]] bool has_share(Epoch me, std::uint64_t number) const;
    // Returns true if `me` does the work that one process does for all: it has the smallest epoch.
    [[nodiscard]] bool leads(Epoch me) const { return known_.empty() || *known_.begin() == me; }

private:
    struct Seen {
        std::uint64_t counter = 0;
        Duration since{0};  // the counter has not changed since
    };

    static constexpr std::size_t unknown_max = 1'000;

    [[nodiscard]] bool is_silent(Node const& other, Duration now);
    [[nodiscard]] bool may_be_new(Epoch epoch) const;

    std::optional<Duration> sent_;  // the newest heartbeat with an answer
    Duration unbroken_since_{0};    // own heartbeats have had answers since, without a gap
    std::map<Epoch, Seen> seen_;    // the others
    std::set<Epoch> known_;         // in the table at the newest heartbeat
    std::vector<Epoch> sharing_;    // of these, the ones that take a share, in order
    Epoch newest_ = 0;              // of all that were ever in the table
    std::uint64_t answers_ = 0;     // to heartbeats
    // Epochs above `newest_` that works() was asked for, with `answers_` at the first question.
    mutable std::map<Epoch, std::uint64_t> unknown_;
};

}  // namespace dormouse::runner
