#pragma once
// Retention inside a session: its oldest turns leave the journal, so that about as many messages
// stay as are wanted. What goes is what was up to the end of a turn; what was still to be used then
// (queued inputs, unread mail, tasks that are not cleared) stays, and so does the state.

#include "runner/runner.h"

namespace dormouse::runner {

// Fewer may not be asked for: the model sees up to a thousand.
inline constexpr std::uint64_t kept_messages_min = 100;

struct Cut {
    session::CutHistory command;
    std::uint64_t bytes = 0;  // of the journal, by which it gets smaller
};

// Once a session has `messages_max` messages, the oldest turns that hold a tenth of them, or more
// if one turn does; of very many a part, so that the next plan goes on. The newest turn always
// stays. nullopt: nothing is to go. Reads; blocks.
[[nodiscard]] Result<std::optional<Cut>> plan_cut(port::Store& store, SessionId session,
                                                  std::uint64_t messages_max);

struct CutReport {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

// On the loop. Cuts sessions one after the other as their turns end, and whichever is asked for.
class HistoryCutter {
public:
    // What is named outlives this. `messages_max`: nullopt: no session is cut unasked.
    HistoryCutter(Runner& runner, port::Loop& loop, port::Journal& journal,
                  std::optional<std::uint64_t> messages_max);
    ~HistoryCutter();
    HistoryCutter(HistoryCutter const&) = delete;
    HistoryCutter& operator=(HistoryCutter const&) = delete;

    // After each append (Runner::on_append).
    void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records);
    // Until the session has fewer than `messages_max`; with `dry_run` says what the first cut would
    // take, and takes nothing.
    void cut(SessionId session, std::uint64_t messages_max, bool dry_run, Asker asker,
             port::Fn<void(Result<CutReport>)> done);
    // What was cut unasked.
    void on_cut(std::function<void(SessionId, CutReport const&)> told) { told_ = std::move(told); }

private:
    struct Job;
    void next();
    void step(std::shared_ptr<Job> const& job);

    Runner& runner_;
    port::Loop& loop_;
    port::Journal& journal_;
    std::optional<std::uint64_t> messages_max_;
    std::set<SessionId> waiting_;
    bool busy_ = false;
    std::function<void(SessionId, CutReport const&)> told_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::runner
