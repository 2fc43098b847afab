#pragma once
// Retention inside a session: its oldest turns leave the journal, by their number of messages, by
// their age and by the bytes of the journal. What goes is what was up to the end of a turn; what
// was still to be used then (queued inputs, unread mail, tasks that are not cleared) stays, and so
// does the state.

#include "runner/runner.h"

#include <map>

namespace dormouse::runner {

// Fewer may not be asked for: the model sees up to a thousand.
inline constexpr std::uint64_t kept_messages_min = 100;
// Of a journal: less holds no turn with a tool's output.
inline constexpr std::uint64_t kept_bytes_min = std::uint64_t{64} << 10;

// What a session keeps at most. What is not set has no limit.
struct Keep {
    std::optional<std::uint64_t> messages = {};
    std::optional<Duration> age = {};         // since a turn ended
    std::optional<std::uint64_t> bytes = {};  // of its journal

    [[nodiscard]] bool all() const { return !messages && !age && !bytes; }
    friend bool operator==(Keep const&, Keep const&) = default;
};

struct Cut {
    session::CutHistory command;
    std::uint64_t bytes = 0;  // of the journal, by which it gets smaller
};

// What is known of a session's journal after a plan.
struct Plan {
    std::optional<Cut> cut = {};      // nullopt: nothing is to go
    std::uint64_t bytes = 0;          // of the journal, if Keep::bytes is set
    std::optional<Time> oldest = {};  // end of the oldest turn that stays, if Keep::age is set and
                                      // one has ended
};

// Once a session has `keep.messages` messages, the oldest turns that hold a tenth of them, or more
// if one turn does; once its journal has more than `keep.bytes`, the oldest turns until it has a
// tenth less; and all turns that ended more than `keep.age` before `now`. Of very many turns a
// part, so that the next plan goes on. The newest turn always stays. Reads; blocks.
[[nodiscard]] Result<Plan> plan_cut(port::JournalStore& store, SessionId session, Keep const& keep,
                                    Time now);

struct CutReport {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

// On the loop. Cuts sessions one after the other as their turns end, and whichever is asked for.
class HistoryCutter {
public:
    // What is named outlives this. `keep`: of each session, unasked.
    HistoryCutter(Runner& runner, port::Loop& loop, port::Part<port::JournalStore> journal,
                  Keep keep);
    ~HistoryCutter();
    HistoryCutter(HistoryCutter const&) = delete;
    HistoryCutter& operator=(HistoryCutter const&) = delete;

    // After each append (Runner::on_append).
    void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records);
    // Until the session keeps no more than `keep`; with `dry_run` says what the first cut would
    // take, and takes nothing.
    void cut(SessionId session, Keep const& keep, bool dry_run, Asker asker,
             port::Fn<void(Result<CutReport>)> done);
    // What was cut unasked.
    void on_cut(std::function<void(SessionId, CutReport const&)> told) { told_ = std::move(told); }

private:
    struct Job;
    // What the newest plan said of a session: before that is outdated no plan is worth its reads.
    // Forgotten when there are too many: then one more plan is made.
    struct Seen {
        Time look_at{};           // no turn is too old before
        std::uint64_t bytes = 0;  // of the journal, about
    };
    void next();
    void step(std::shared_ptr<Job> const& job);
    void see(SessionId session, Plan const& plan);
    [[nodiscard]] bool worth(Lane const& lane) const;

    Runner& runner_;
    port::Loop& loop_;
    port::Part<port::JournalStore> journal_;
    Keep keep_;
    std::set<SessionId> waiting_;
    std::map<SessionId, Seen> seen_;
    bool busy_ = false;
    std::function<void(SessionId, CutReport const&)> told_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::runner
