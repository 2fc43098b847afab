#pragma once
// Retention inside a session: removes its oldest turns from the journal, limited by number of
// messages, age, or bytes of the journal. A cut ends at the end of a turn. Whatever was still
// needed then (queued inputs, unread mail, tasks not cleared) is kept, and so is the state.

#include "base/scope.h"
#include "runner/runner.h"

#include <map>

namespace dormouse::runner {

// The amount of a session's history that is kept. A limit that is not set does not apply.
struct Keep {
    std::optional<std::uint64_t> messages = {};
    std::optional<Duration> age = {};         // since the turn ended
    std::optional<std::uint64_t> bytes = {};  // of the session's journal

    [[nodiscard]] bool all() const { return !messages && !age && !bytes; }
    friend bool operator==(Keep const&, Keep const&) = default;
};

struct Cut {
    session::CutHistory command;
    std::uint64_t bytes = 0;  // by which the journal shrinks
};

// The result of planning a cut.
struct Plan {
    std::optional<Cut> cut = {};      // nullopt: nothing to remove
    std::uint64_t bytes = 0;          // of the journal; only if Keep::bytes is set
    std::optional<Time> oldest = {};  // end of the oldest turn that is kept; only if Keep::age is
                                      // set and a turn has ended
};

// Plans a cut. If the session has `keep.messages` messages or more: the oldest turns that hold the
// excess and a tenth more. If its journal has more than `keep.bytes`: the oldest turns until it is
// a tenth below. And all turns that ended more than `keep.age` before `now`. Limited to a part if
// there are very many turns; the next plan continues. Always keeps the newest turn. Reads the
// store; blocks.
[[nodiscard]] Result<Plan> plan_cut(port::JournalStore& store, SessionId session, Keep const& keep,
                                    Time now);

struct CutReport {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

// Cuts sessions one at a time, after their turns end or on request. On the loop.
class HistoryCutter {
public:
    using OnCut = std::function<void(SessionId, CutReport const&)>;

    // The arguments outlive this. `keep` applies to every session. `on_cut` reports cuts that
    // nobody requested; may be empty.
    HistoryCutter(Runner& runner, port::Loop& loop, port::StoreView<port::JournalStore> journal,
                  Keep keep, OnCut on_cut);

    // Applies to every session from its next turn on.
    void set_keep(Keep keep);
    // Call after each append (Observer::appended).
    void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records);
    // Cuts until the session keeps no more than `keep`. With `dry_run`, reports what the first cut
    // would remove, and removes nothing.
    void cut(SessionId session, Keep const& keep, bool dry_run, Asker asker,
             port::Fn<void(Result<CutReport>)> done);

private:
    struct Job;
    // The result of the newest plan of a session. While it is valid, no new plan is made. Results
    // are dropped when there are too many; that costs one more plan each.
    struct Seen {
        Time check_at{};          // no turn is too old before this
        std::uint64_t bytes = 0;  // of the journal, estimated
    };
    void next();
    void step(std::shared_ptr<Job> const& job);
    void see(SessionId session, Plan const& plan, Time planned_at);
    [[nodiscard]] bool worth(Lane const& lane) const;

    Runner& runner_;
    port::Loop& loop_;
    port::StoreView<port::JournalStore> journal_;
    Keep keep_;
    std::set<SessionId> waiting_;
    std::map<SessionId, Seen> seen_;
    bool busy_ = false;
    OnCut const on_cut_;
    Scope scope_;
};

}  // namespace dormouse::runner
