#pragma once
// The runner owns the lanes: it opens them when something comes for their session, wakes them by
// `wake_at`, and unloads them when they are idle. One query over an index, at start and every
// second, does recovery, expiry and retries, and resolves appends with unknown result (P5).
// Everything here runs on the loop.

#include "base/check.h"
#include "base/scope.h"
#include "runner/aliases.h"
#include "runner/guarded_clock.h"
#include "runner/idle_lanes.h"
#include "runner/lane/outbox.h"
#include "runner/observer.h"
#include "runner/repair/verify.h"
#include "runner/session_numbers.h"
#include "wire/audit.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace dormouse::runner {

// The caller of a command, and its idempotency key.
struct Asker {
    session::Actor by;
    std::string idem_key =
        {};  // 32 hex digits of SHA-256(principal, method, path, Idempotency-Key); empty: none
    std::string idem_digest = {};  // of the request's body
    Rights rights = {};
    session::TraceHeaders trace = {};  // of the request, checked
};

struct Created {
    SessionId session;
    session::Answer answer;
};

struct Options {
    // The first numbers of new sessions, and how to get more; empty: all from there on.
    port::NumberBlock numbers = {.first = 1};
    SessionNumbers::Fetch fetch_numbers = {};
    // Idle lanes are unloaded while there are more lanes than this, or idle ones weigh more bytes.
    std::size_t resident_max = 16'384;
    std::size_t resident_bytes = std::size_t{256} << 20;
    // And when they have been idle this long: most sessions sleep for hours.
    Duration resident_time{10'000};
    Duration scan_every{1'000};
    // With other processes: how many of its newest runs of tools this one knows, in case that the
    // store loses them.
    std::size_t runs_known = StartedRuns::newest_max;
    session::Limits limits = {};
    session::TraceRules tracing = {};
    std::vector<port::RuleRow> rules = {};  // as stored
    struct MailOfProject {
        session::MailPolicy policy = {};
        std::vector<std::string> to = {};  // other projects to which its sessions may send mail
    };
    std::map<std::string, MailOfProject> mail = {};  // by project; others have the default policy
    // Deletes sessions this long after they completed; nullopt: never.
    std::optional<Duration> completed_after = {};
    // Removes audit lines that are older than this; nullopt: never.
    std::optional<Duration> audit_after = {};
    // Returns the outbox messages to receivers that are not sessions, for a command's events. Pure;
    // empty: none.
    std::function<std::vector<port::OutboxRow>(session::State const&,
                                               std::span<wire::RecordPtr const>,
                                               std::vector<session::PendingChange> const&)>
        outgoing = {};
};

// The old lines at the beginning of the audit. Never contains the newest line.
struct OldAudit {
    wire::AuditTrim trim = {};  // lines 0: none
    bool more = false;
};

// The result of checking a page of sessions.
struct RepairReport {
    struct Found {
        SessionId session;
        std::string what;
        bool repaired = false;
        bool repairable = false;  // can be rebuilt from the journal completely
    };
    std::uint64_t sessions = 0;  // checked
    std::uint64_t events = 0;
    std::vector<Found> found;
    std::optional<std::uint64_t> next;  // start of the next page
};

class Runner final : private LaneSettings,
                     private LaneSchedule,
                     private LaneOutcomes,
                     private LaneMessages,
                     private LaneObserver {
public:
    struct Services {
        port::Loop& loop;
        port::Clock& clock;
        port::Entropy& entropy;
        port::Journal& journal;
        port::Nodes& nodes;
        port::Effects& effects;
        port::AgentTerms const& agents;
        // Prepares large commands, which would block the loop; null: the loop does it.
        port::Workers* workers = nullptr;
        port::ToolCatalogue* tools = nullptr;  // null: values of submissions are not checked
    };
    // `observer` and everything in `services` outlive this; the loop runs nothing of this runner
    // after it is destroyed.
    Runner(Services services, Options options, Observer& observer);
    ~Runner() override;

    // Starts scanning: from now on outstanding work is done.
    void start();
    // Applies the limits, mail policies and ages of `next`; its other members are ignored. Earlier
    // decisions do not change.
    void apply(Options const& next);
    static constexpr Duration drain_max{5'000};
    // Accepts no more commands (503 draining) and writes no more intents: it starts only runs of
    // tools whose intents are being stored. Calls `done` when no append is in progress and no
    // effect runs, or when `limit` has passed.
    void drain(port::Fn<void()> done, Duration limit = drain_max);

    using Reply = Lane::Reply;
    void command(SessionId session, session::Command::Body body, Asker asker, Reply reply);
    // The runner chooses `create.id`. With an Idempotency-Key, a repeated request finds the same
    // session.
    void create(session::Create create, Asker asker, port::Fn<void(Result<Created>)> reply);
    // Under this key the store finds the session that a request with an Idempotency-Key created;
    // nullopt: the request has none.
    [[nodiscard]] static std::optional<Bits128> creation_key(std::string const& project,
                                                             Asker const& asker);
    // Gives the session an alias. Errors: alias_taken, and those of command().
    void rename(SessionId session, session::Change change, Asker asker, Reply reply);
    // Calls back with the lane once everything queued before is durable. Errors: not_found.
    void read_lane(SessionId session, port::Fn<void(Result<std::shared_ptr<Lane>>)> done);
    // Reads all records of the session from `from` on. `done` is called from a read
    // (Lane::read), so the records and the lane are from the same moment.
    struct Read {
        std::shared_ptr<Lane> lane;
        std::vector<wire::RecordPtr> records;
    };
    void read(SessionId session, Seq from, port::Fn<void(Result<Read>)> done);
    // Reads the first of these records: those of about `bytes`, at least one if there is one.
    static constexpr std::size_t page_bytes = std::size_t{256} << 10;  // the most that is useful
    void read_page(SessionId session, Seq from, std::size_t bytes,
                   port::Fn<void(Result<Read>)> done);
    // The record of one event: the first one read, if the session has it.
    void read_event(SessionId session, Seq seq, port::Fn<void(Result<Read>)> done);
    // A page of `page_bytes` for readers that page through events: skips what retention has removed
    // (State::base).
    void read_events(SessionId session, Seq from, port::Fn<void(Result<Read>)> done);

    // Gives the session something that its external agent did unasked; treated like an effect's
    // outcome.
    void observe(SessionId session, session::Command::Body what) {
        offer(session, {}, std::move(what));
    }

    // The effect does not run and has no outcome. It is started again at a scan, by the process
    // that may do so then; while this one drains, by the next one.
    void forget_effect(SessionId session, session::EffectId id) {
        auto const found = lanes_.find(session);
        if (found != lanes_.end()) found->second->forget_effect(id);
    }

    // The same for an effect that found no thread, or must not begin: it has done nothing.
    void not_begun(SessionId session, session::EffectId id) {
        auto const found = lanes_.find(session);
        if (found != lanes_.end()) found->second->not_begun(id);
    }

    // Another process has appended to this session: what memory holds of it is outdated. Its
    // watchers are woken, and what is outstanding continues if this process drives it.
    void appended_elsewhere(SessionId session);
    // The same, unless memory has this append already: it may have been read with a later one.
    void appended_elsewhere(port::FeedRow const& row);
    // Like appended_elsewhere(), for each session that memory holds.
    void forget_memory();
    // Another process takes no share of what is due any more: looks at once for this process's
    // share of its work; the next scan takes what the others have left.
    void process_left();
    // A session of this number will be imported: no new one gets it.
    void skip_number(std::uint64_t number) { numbers_.skip(number); }
    // Returns true if the process of this epoch, of another store, counts as an earlier one.
    [[nodiscard]] bool outlives(Epoch epoch) const {
        return services_.nodes.alone() && epoch < services_.nodes.epoch();
    }
    // This session was imported, with these rules that answer in it.
    void imported(SessionId session, std::vector<port::RuleRow> const& rules);
    // Other budgets are configured now: sessions that ask about one of a day read its sums again.
    void budgets_changed();
    // Other gates are configured now: sessions that wait for one that was missing continue.
    void gates_changed();
    // The others declared this process dead: takes part again, under a new epoch.
    void fenced() override;
    // Returns true if a process that is gone does the session's outstanding work.
    [[nodiscard]] bool has_lost_driver(port::Due const& due) const {
        bool const other = due.driver != 0 && due.driver != epoch();
        return other && !services_.nodes.alone() && services_.nodes.gone(due.driver);
    }
    // Returns how many times a session of a process that is gone was taken over.
    [[nodiscard]] std::uint64_t taken_over() const { return taken_over_; }
    // See port::Nodes::name().
    [[nodiscard]] std::string const& node_name() const { return services_.nodes.name(); }
    // Returns the epoch of this process, as its appends name it.
    [[nodiscard]] Epoch epoch() const { return services_.nodes.epoch(); }
    // Returns true if work that runs here, such as a long poll, covers everything that was due for
    // the session before `until`. Returns false if nothing runs, or the session is not in memory.
    [[nodiscard]] bool attends(SessionId session, Time until) const;

    // Checks a page of sessions with numbers above `after`, and repairs what can be repaired.
    static constexpr std::uint32_t repair_page = 256;
    void repair(std::uint64_t after, bool dry_run, Asker asker,
                port::Fn<void(Result<RepairReport>)> done);

    [[nodiscard]] Rules& rules() { return rules_; }
    [[nodiscard]] Time now() const override { return clock_.now(); }
    [[nodiscard]] Duration monotonic() const override { return services_.clock.monotonic(); }
    [[nodiscard]] bool draining() const override { return draining_; }
    [[nodiscard]] bool recovered() const { return recovered_; }
    // Returns true if the store is a restored copy that no person has released: no time passes for
    // sessions, and no effect starts.
    [[nodiscard]] bool held() const { return services_.nodes.held(); }
    // Unloads all idle sessions, because memory is short.
    void release_idle() { release_beyond(0, 0); }
    [[nodiscard]] std::size_t resident() const { return lanes_.size(); }
    // Weight of the idle lanes (Lane::weight).
    [[nodiscard]] std::size_t resident_bytes() const { return idle_.bytes(); }
    // Up to `limit` sessions with calls that wait for a gate that is not configured, each with the
    // first such gate.
    [[nodiscard]] std::vector<std::pair<SessionId, std::string>> awaiting_gate(
        std::size_t limit) const;
    // True once a sync has failed: this process writes nothing more (P10).
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] GuardedClock const& clock() const { return clock_; }

    // Other projects to which sessions of this one may send mail.
    [[nodiscard]] std::vector<std::string> const& mail_projects(std::string const& project) const {
        static std::vector<std::string> const none;
        auto const found = options_.mail.find(project);
        return found == options_.mail.end() ? none : found->second.to;
    }
    // Finds the oldest audit lines from before `until`, up to `audit_page`, and removes them unless
    // `dry_run`. A new line records what was removed.
    static constexpr std::uint64_t audit_page = 10'000;
    void trim_audit(Time until, bool dry_run, Asker const& asker,
                    port::Fn<void(Result<OldAudit>)> done);

private:
    [[nodiscard]] Random random() { return services_.entropy.random(); }
    [[nodiscard]] session::Limits const& limits() const override { return options_.limits; }
    [[nodiscard]] session::TraceRules tracing() const override { return options_.tracing; }
    [[nodiscard]] session::MailPolicy mail_policy(std::string const& project) const override {
        auto const found = options_.mail.find(project);
        return found == options_.mail.end() ? session::MailPolicy() : found->second.policy;
    }
    [[nodiscard]] bool may_mail(std::string const& from, std::string const& to) const override {
        auto const& others = mail_projects(from);
        return std::ranges::find(others, to) != others.end();
    }
    void offer(SessionId session, session::EffectId id, session::Command::Body outcome) override;
    void offer_later(SessionId session, session::EffectId id,
                     session::Command::Body outcome) override;
    // Sessions that ask about a budget of a day read its sums again, after `before`. What fails is
    // done again with the next watch_budgets().
    void wake_askers(std::optional<PendingId> before);
    void wake_asker(SessionId session);
    void watch_budgets();
    struct DayMarks {
        std::int64_t day = 0;
        std::int64_t raises = 0;  // JournalStore::day_mark()
        bool used = false;        // some sums exist
    };
    void compare_raises(DayMarks const& found);
    void store_failed(Error const& error) override;
    void took_over() override { ++taken_over_; }
    void after(Duration delay, port::Fn<void()> work) override;
    void wake_soon(SessionId session, Time at) override;
    void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) override;
    [[nodiscard]] std::vector<port::OutboxRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) override {
        return options_.outgoing ? options_.outgoing(state, records, changes)
                                 : std::vector<port::OutboxRow>();
    }
    void outbox_added(std::vector<port::OutboxRow> rows) override;
    void rested(SessionId session) override;
    // Unloads idle lanes, longest idle first, until there are no more lanes and bytes than that.
    void release_beyond(std::size_t lanes_max, std::size_t bytes_max);
    void release_old();
    void idle_again(SessionId session);
    bool release_lane(SessionId session);
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override {
        observer_.delta(session, ask, delta);
    }

    [[nodiscard]] std::shared_ptr<Lane> lane(SessionId session, bool fresh = false);
    // A creation with an Idempotency-Key.
    struct Keyed {
        session::Create create;
        Asker asker;
        Bits128 key;
        unsigned tries = 0;                 // that the store has refused
        std::optional<Error> refused = {};  // why it refused the newest one
    };
    static constexpr unsigned keyed_tries_max = 8;
    void create_keyed(Keyed what, port::Fn<void(Result<Created>)> reply);
    [[nodiscard]] port::Fn<void(Result<Created>)> repeat_if_refused(
        Keyed what, port::Fn<void(Result<Created>)> reply);
    void create_new(session::Create create, Asker asker, std::optional<Bits128> key,
                    port::Fn<void(Result<Created>)> reply);
    void create_fresh(session::Create create, Asker asker, std::optional<Bits128> key,
                      port::Fn<void(Result<Created>)> reply);
    void create_at(std::shared_ptr<Lane> const& lane, session::Create create, Asker asker,
                   port::Fn<void(Result<Created>)> reply);
    void read_on(SessionId session, Seq next, std::vector<wire::RecordPtr> records,
                 port::Fn<void(Result<Read>)> done);
    void read_stored(SessionId session, Seq next, Seq head, std::vector<wire::RecordPtr> records,
                     port::Fn<void(Result<Read>)> done);
    // `skip`: begins after what retention has removed.
    void read_page(SessionId session, Seq from, std::size_t bytes, bool skip,
                   port::Fn<void(Result<Read>)> done);
    void read_stored_page(SessionId session, Seq from, Seq head, std::size_t bytes,
                          port::Fn<void(Result<Read>)> done);
    void read_nothing(SessionId session, Seq next, port::Fn<void(Result<Read>)> done);
    [[nodiscard]] Incoming make(session::Command::Body body, Asker asker);
    void enter(SessionId session, Incoming incoming, Reply reply);
    [[nodiscard]] bool is_large(session::Command& command) const;
    void prepare(session::Command command, port::Fn<void(Result<session::Command>)> then);
    void refuse(SessionId session, Error error, Reply reply);
    void scan();
    void scan_page(Time until, std::optional<port::Due> after);
    void scanned();
    void mend(VerifyReport const& found, bool dry_run, Asker const& asker,
              port::Fn<void(Result<RepairReport>)> done);
    void begin_sweeps();
    void sweep();
    void sweep(std::vector<SessionId> const& completed);
    void sweep_again(Duration delay);
    void sweep_audit();
    void tick(SessionId session, std::optional<port::Due> const& stored);
    [[nodiscard]] bool is_for_another(port::Due const& due) const;
    void arm();
    void fire();
    void finish_drain();

    static constexpr std::uint32_t scan_page_size = 256;
    static constexpr std::uint32_t sweep_size = 64;
    static constexpr std::size_t release_share = 256;  // lanes in one loop iteration
    static constexpr Duration overdue_after{3'000};    // then any process does it
    static constexpr Duration sweep_every_max{60'000};
    static constexpr Duration audit_every_max{3'600'000};

    Services services_;
    Options options_;
    GuardedClock clock_;
    JournalWriter writer_;
    Freshness freshness_;
    Loads loads_;
    StartedRuns runs_;
    Rules rules_;
    SessionNumbers numbers_;
    LaneServices const lane_services_;
    std::unordered_map<SessionId, std::shared_ptr<Lane>> lanes_;
    IdleLanes idle_;
    // Unloaded sessions that the scan finds but that wait for a gate that is not configured.
    // `next`: when there is other work for them.
    struct Parked {
        std::string gate;
        std::optional<Time> next;
    };
    std::unordered_map<SessionId, Parked> parked_;
    // by key, with the requests that wait
    std::map<Bits128, std::vector<port::Fn<void()>>> creating_;
    // Wake-ups within the next scan or two. One timer, set to the earliest.
    using Wake = std::pair<Time, SessionId>;
    std::set<Wake> wakes_;
    std::optional<Time> armed_;
    std::uint64_t scans_ = 0;
    bool scanning_ = false;
    bool scan_again_ = false;  // asked for while one was made
    bool left_ = false;        // a process has left since the last scan began
    bool by_share_ = false;    // this scan also shares the sessions of processes that are gone
    std::uint64_t taken_over_ = 0;
    bool rejoining_ = false;  // the others declared this process dead
    bool draining_ = false;
    bool recovered_ = false;
    Duration budgets_at_{};           // watch_budgets() reads no earlier
    std::optional<DayMarks> raises_;  // as last seen while this process leads
    // At first: the configuration may differ from the one by which they asked.
    bool wake_askers_again_ = true;
    bool failed_ = false;
    Time drain_until_{};
    port::Fn<void()> drained_;
    Observer& observer_;
    Outbox outbox_;
    Aliases aliases_;
    std::optional<Scope> sweeps_;  // of what is deleted by age; nullopt: it has not started
    Scope scope_;
};

}  // namespace dormouse::runner
