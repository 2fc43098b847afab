#pragma once
// A lane is the single-writer actor of one session, and an output gate. While an append is being
// committed the lane is shut: commands wait in the inbox. When the append is durable, its answers,
// records and effects leave; then all waiting commands are decided, in order, into one append. So
// every state() that a reader sees is durable, and nothing leaves before it is.
//
// THE FILE TO READ FIRST. The path of a command: receive → turn → load (if the state is not in
// memory) → look_up (closed things) → decide_batch (check, decide, apply, encode) → JournalWriter →
// release (answers, readers, effects) → reopen. A submission whose values take long to check waits
// outside the inbox (set_aside). Everything here runs on the loop.

#include "base/check.h"
#include "runner/lane/lane_services.h"
#include "runner/lane/snapshot_plan.h"
#include "runner/read/reading.h"
#include "session/decide.h"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace dormouse::wire {
class History;
}

namespace dormouse::runner {

struct Attachments;

// Estimated memory of a record in bytes: its text, counted twice because it is also kept as values.
[[nodiscard]] std::size_t weight_of(wire::Record const& record);

// The answer to commands while the runner drains.
[[nodiscard]] Error stopping();

// The rights of a caller.
struct Rights {
    std::vector<std::string> projects = {};  // empty: sessions of all projects
    // Roles under which the caller may answer besides its own name ("role:approve"); nullopt: all.
    std::optional<std::vector<std::string>> roles = {};
};

// A command, the time it came, and the random bytes drawn for it.
struct Incoming {
    session::Command command;
    Time at{};
    Random random{};
    Rights rights = {};
    bool of_effect = false;  // the outcome of an effect that the lane started
};

class Lane : public std::enable_shared_from_this<Lane> {
public:
    using Reply = port::Fn<void(Result<session::Answer>)>;
    using OnRead = port::Fn<void(Result<Lane const*>)>;

    // `services` outlives this. `fresh`: the session does not exist yet; its first command creates
    // it.
    Lane(SessionId id, LaneServices const& services, bool fresh);

    // Queues a command. Answers overloaded if 10,000 wait.
    void receive(Incoming incoming, Reply reply);
    // The same for a command that prepare() has checked.
    void receive_prepared(Incoming incoming, Reply reply);
    // Checks a command and moves an output over `output_bytes` out of it. Takes time proportional
    // to its size. Any thread. Errors: bad_value.
    [[nodiscard]] static Result<void> prepare(session::Command& command, std::size_t output_bytes);
    // Calls back with the lane once everything queued before is durable, so that readers see only
    // durable state. Errors: not_found.
    void read(OnRead done);
    // Queues the outcome of an effect that dispatch started; repeats it until it is answered.
    void offer(session::EffectId id, session::Command::Body outcome);
    // The same for an outcome that prepare() has checked.
    void offer_prepared(session::EffectId id, session::Command::Body outcome);

    // Calls `wake` after every append that became durable, until unwatch(). `wake` must not destroy
    // the lane.
    [[nodiscard]] std::uint64_t watch(port::Fn<void()> wake);
    void unwatch(std::uint64_t id);

    [[nodiscard]] SessionId id() const { return id_; }
    // Durable. REQUIRES: called from a read or a wake.
    [[nodiscard]] session::State const& state() const {
        CHECK(state_);
        return *state_;
    }
    [[nodiscard]] bool loaded() const { return state_.has_value(); }
    // Returns true if the state in memory is later than this frame of the session, or ends with it.
    [[nodiscard]] bool has(port::Frame const& frame) const;
    // The newest stored frame of state(). REQUIRES what that does.
    [[nodiscard]] port::NewestFrame newest() const { return newest_; }
    // The newest records, oldest first; all records if recent_from_start(), which REQUIRES what
    // state() does.
    [[nodiscard]] std::vector<wire::RecordPtr> const& recent() const { return recent_; }
    [[nodiscard]] bool recent_from_start() const {
        CHECK(state_);
        if (state_->base.through != 0) return false;
        // A lane that was loaded from a snapshot of its newest event has no records.
        return recent_.empty() ? state_->head == 0 : recent_.front()->event.seq == 1;
    }

    [[nodiscard]] bool may_sleep() const;
    // Estimated memory in bytes: records (as text and as values), state, and closed things.
    [[nodiscard]] std::size_t weight() const;
    // The session was deleted or never existed.
    [[nodiscard]] bool gone() const;
    // Returns true if a call continues only in this process, because it holds what the call waits
    // for.
    [[nodiscard]] bool holds() const;
    // Returns when a tick would next do something that nothing else in this process does.
    [[nodiscard]] std::optional<Time> next_time() const;
    // Returns when this process must check again a session that continues only on another node.
    [[nodiscard]] std::optional<Time> waits_elsewhere(Time now) const;
    static constexpr Duration elsewhere_every{30'000};
    // The first gate that a call waits for because it is not configured.
    [[nodiscard]] std::optional<std::string> missing_gate() const;
    // Returns true if a tick at `now` could start work that nothing else in this process starts.
    // `stored`: the row in the store, if another process may have appended.
    [[nodiscard]] bool wants_tick(Time now, std::optional<port::Due> const& stored) const;
    // Drops the state in memory, because this process has a new epoch. Running effects continue.
    void forget_state();
    // Messages of other sessions that wait here may be of a history that is lost: they are refused
    // with precondition_failed, and are to be read again from the store.
    void doubt_messages();
    void set_create_key(Bits128 key) { create_key_ = key; }
    [[nodiscard]] std::size_t effects_running() const { return running_.size(); }
    // The store has not answered yet: effects may start when it does.
    [[nodiscard]] bool shut() const { return shut_; }
    // The effect no longer runs, or was not started.
    void forget_effect(session::EffectId id);
    // The same for one that was started, and did nothing.
    void not_begun(session::EffectId id);
    // For a drain: ends the attempts of tools that have not begun. The next process tries again.
    void give_back_runs();
    // The runner is being destroyed. Waiting commands are dropped unanswered: some of them own this
    // lane.
    void abandon();

private:
    struct Request {
        Incoming incoming;
        Reply reply;
        OnRead on_read;  // set: a read, not a command
        session::Found found = {};
        bool looked_up = false;
        std::shared_ptr<SubmissionCheck> check = {};  // of the command's values
    };
    // A decided request: kept until its append is durable, because it is decided again if another
    // append came first.
    struct Decided {
        Request request;
        Result<session::Answer> answer;
        std::shared_ptr<Attachments> attachments = {};  // taken out of the command
    };

    void turn();
    void load();
    void return_messages();
    [[nodiscard]] bool drives() const;
    [[nodiscard]] bool is_here() const;
    // The process that works and holds what an answered or waiting call continues with; 0: none.
    [[nodiscard]] Epoch holder_of(session::Call const& call) const;
    [[nodiscard]] bool is_held_elsewhere() const;
    [[nodiscard]] bool has_lost_driver() const;
    [[nodiscard]] std::optional<Time> next_for_people() const;
    [[nodiscard]] bool takes_over() const;
    [[nodiscard]] bool lost_its_driver() const;
    [[nodiscard]] static bool adopts(Request const& request);
    [[nodiscard]] bool must_write_driver() const;
    [[nodiscard]] bool repairs() const;
    void rebuild_rows(port::Append& append);
    void add_snapshot(port::Append& append);
    void loaded(Result<LoadedSession> loaded);
    void take_up_state(LoadedSession loaded);
    // Runs a step. If memory runs out, it ends as if the store had failed: forget().
    void unless_exhausted(std::function<void()> const& step);
    void look_up_closed();
    void decide_waiting();
    void take_up_commit();
    [[nodiscard]] session::Adopt adoption() const;
    void look_up();
    void decide_batch();
    void decide_one(Request& request, struct Draft& draft);
    void take_computed(struct Draft& draft);
    [[nodiscard]] std::optional<session::Effect> computed_effect(struct Draft const& draft) const;
    [[nodiscard]] std::optional<Incoming> compute(session::Effect const& effect,
                                                  struct Draft const& draft);
    [[nodiscard]] bool may_touch(Rights const& rights) const;
    [[nodiscard]] session::Context context_of(Request& request) const;
    void want_totals(Incoming const& incoming, session::Wanted& wanted) const;
    [[nodiscard]] std::vector<port::DayRow> day_sums(
        std::vector<wire::RecordPtr> const& records) const;
    [[nodiscard]] bool check_values(Request& request, session::Context& context);
    [[nodiscard]] session::MatchingRules rules_for(session::Command const& command) const;
    void add_rules(session::Decision const& decision, port::Append& append);
    void take_up_rules();
    void set_aside(Request request);
    void take_back(Request request);
    void write_down(Request const& request, Attachments const& attachments,
                    std::vector<session::InboxItem> const& quarantined, session::Decision decision,
                    struct Draft& draft);
    void take_up(session::OutboxKey const& message, session::Command const& command,
                 session::Decision const& decision, port::Append& append);
    void keep_waiting(std::vector<Request> rest);
    void send(struct Draft draft);
    void write(port::Append append);
    void committed(port::AppendResult durable);
    void decide_again();
    void load_again();
    void let_others_append();
    void look_again(Error const& error);
    void drop_memory();
    void drop_lost_effects();
    [[nodiscard]] bool is_late(Duration after) const;
    [[nodiscard]] bool begins_run() const;
    void read_before_effects();
    void compare(Duration late_after);
    void release();
    void forget_cut();
    void forget(Error const& error);
    void reopen();

    [[nodiscard]] port::Outcome outcome_of(session::EffectId id) const;
    [[nodiscard]] Incoming of_effect(session::EffectId id, session::Command::Body outcome);
    [[nodiscard]] Reply offer_again(session::EffectId id, session::Command::Body const& outcome);
    [[nodiscard]] session::MailPolicy mail_policy(session::Command const& command) const;
    [[nodiscard]] std::string refusal(session::Command const& command) const;
    [[nodiscard]] session::Found found_for(session::Command const& command,
                                           session::Found fetched) const;
    void remember(std::vector<wire::RecordPtr> const& records);
    void forget_oldest();
    void remember_closed(session::Event const& event);

    void dispatch();
    [[nodiscard]] bool may_start() const;
    // Returns how long after its time this process makes a poll of the call; nullopt: another one
    // makes it.
    [[nodiscard]] std::optional<Duration> poll_delay(session::Call const& call) const;
    // The polls that this process must make now and does not make yet.
    [[nodiscard]] std::vector<session::Effect> polls_to_make(Time now) const;
    [[nodiscard]] bool is_own_run(session::Effect const& effect) const;
    [[nodiscard]] std::optional<Time> time_of(session::Timer const& timer) const;
    [[nodiscard]] std::optional<Time> model_until() const;
    [[nodiscard]] std::optional<Time> gate_until(session::Timer const& timer) const;
    [[nodiscard]] std::vector<CallNo> gates_not_begun(Time at) const;
    void start(session::Effect const& effect);
    // Returns a function for when what the effect needs has been read: false if it must not start
    // any more.
    [[nodiscard]] std::function<bool()> after_read(session::EffectId id);
    void run_tool(session::EffectId id, session::RunTool const& run);
    void ask_model(session::Effect const& effect, session::AskModel const& ask);
    void ask_turn(session::Effect const& effect, session::AskTurn const& ask);
    void show(wire::History const& history, port::ModelRequest request);
    void add_files(port::ModelRequest request);
    void send_request(port::ModelRequest request);
    using NextStep = void (Lane::*)(port::ModelRequest request);
    // Continues a request whose data was read.
    void continue_fresh(port::ModelRequest request, Duration late_after, NextStep next);

    // After a longer append to a shared store, a longer comparison with it, or a longer read of
    // what an external agent is sent, the session is read or compared again before a run starts.
    static constexpr Duration late_after{1'000};
    static constexpr std::size_t inbox_max = 10'000;
    static constexpr std::size_t append_bytes_max = std::size_t{4} << 20;
    static constexpr std::size_t recent_max = 512;  // plus an eighth, so that few appends trim it
    // as weighed by weight_of()
    static constexpr std::size_t recent_bytes_max = std::size_t{2} << 20;
    // Attempts to append the same requests while other processes append first. The first
    // `moved_at_once` follow each other at once; the lane waits before each later one.
    static constexpr std::uint32_t moved_max = 64;
    static constexpr std::uint32_t moved_at_once = 8;
    // A session is contested after this many attempts. For the next `turns_shared` turns the lane
    // waits before it appends, because a process that must read first would always come too late.
    static constexpr std::uint32_t contested_from = 2;
    static constexpr std::uint32_t turns_shared = 32;

    SessionId const id_;
    LaneServices const& services_;
    bool shut_ = false;                    // an append or a load is in progress
    bool outdated_ = false;                // what memory holds: it is read again after this turn
    bool messages_in_doubt_ = false;       // those in the inbox: see doubt_messages()
    std::optional<session::State> state_;  // nullopt: unknown, must be loaded
    port::NewestFrame newest_{};           // in the store, of those that state_ has
    Epoch driver_ = 0;                     // of the session, in the store; 0: none
    // The driver that the append in progress sets; nullopt: it stays the same. This process may get
    // another epoch meanwhile.
    std::optional<Epoch> next_driver_;
    // Monotonic: the newest time at which the store is known to have held what memory holds. When
    // the newest durable append was given to the writer, or the newest comparison began.
    Duration confirmed_at_{};
    std::vector<Request> inbox_;
    std::size_t checking_ = 0;             // submissions whose values are being checked
    bool abandoned_ = false;               // the runner is gone
    std::vector<Decided> leaving_;         // what waits for the append in progress
    std::uint32_t moved_ = 0;              // how often the same requests met a moved head
    std::uint32_t shared_turns_ = 0;       // turns left before which the lane waits
    std::set<session::EffectId> running_;  // effects started by this process
    std::set<session::EffectId> waiting_;  // runs of tools that have not begun, and start again
    // The newest frame that memory had when it was dropped; the store must still have it.
    port::NewestFrame known_{};
    // The history in which the newest effects were started; shared with them, because they may
    // outlive the lane.
    struct History {
        bool lost = false;  // their outcomes do not count
    };
    std::shared_ptr<History> history_ = std::make_shared<History>();

    std::vector<wire::RecordPtr> recent_;
    std::size_t recent_bytes_ = 0;             // sum of weight_of()
    std::vector<wire::RecordPtr> fresh_;       // records of the append in progress
    std::vector<session::StandingRule> made_;  // by the append in progress
    std::vector<port::RuleUse> rule_uses_;     // in the append in progress
    std::vector<port::OutboxRow> sending_;     // outbox messages of the append in progress
    session::BudgetMeter counted_;             // before the batch being decided
    bool cut_ = false;                         // the append in progress cuts the history
    SnapshotPlan snapshots_;
    std::optional<Time> stored_wake_;             // what the store holds …
    bool wake_known_ = false;                     // … if that is known
    std::optional<port::TurnState> stored_turn_;  // in the session's row; nullopt: not known
    std::optional<Bits128> create_key_;
    std::optional<LoadedSession::Rows> rows_;  // rebuilt rows, which the waiting Repair writes

    // Receipts of the pauses closed since this lane was loaded, so that the store need not be read.
    std::map<std::pair<CallNo, Generation>, session::Receipt> closed_;
    std::map<std::string, session::Found::Earlier> earlier_;
    std::set<std::string> progress_;
    std::set<std::string> taken_;
    std::map<std::pair<CallNo, Generation>, std::pair<std::uint32_t, std::set<Sha256>>>
        notes_;  // of the batch being decided

    std::map<std::uint64_t, std::shared_ptr<port::Fn<void()>>>
        watchers_;  // a watcher may remove itself while it runs
    std::uint64_t next_watcher_ = 0;
};

}  // namespace dormouse::runner
