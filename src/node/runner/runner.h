#pragma once
// The runner owns the lanes: it opens them when something comes for their session, wakes them by
// `wake_at`, and puts them away when they rest. One query over an index, at start and every second,
// is recovery, expiry, retry and the answer to an append whose end is unknown (P5).
// Everything here runs on the loop.

#include "runner/aliases.h"
#include "runner/held_clock.h"
#include "runner/observer.h"
#include "runner/outbox.h"
#include "runner/verify.h"
#include "wire/audit.h"

#include <algorithm>
#include <functional>
#include <list>
#include <unordered_map>

namespace dormouse::runner {

// Who asks, and under which key.
struct Asker {
    session::Actor by;
    std::string idem_key =
        {};  // 32 hex digits of SHA-256(principal, method, path, Idempotency-Key); empty: none
    std::string idem_digest = {};  // of the request's body
    Rights rights = {};
};

struct Created {
    SessionId session;
    session::Answer answer;
};

struct Options {
    Epoch epoch = 1;
    std::uint64_t next_session_number = 1;
    // Lanes kept in memory, and their weight in bytes; those in use come on top.
    std::size_t resident_max = 16'384;
    std::size_t resident_bytes = std::size_t{256} << 20;
    Duration scan_every{1'000};
    session::Limits limits = {};
    struct MailOfProject {
        session::MailPolicy policy = {};
        std::vector<std::string> to = {};  // other projects to which its sessions may write
    };
    std::map<std::string, MailOfProject> mail = {};  // by project; of others the usual one
    // Sessions that were completed so long ago are deleted; nullopt: none.
    std::optional<Duration> completed_after = {};
    // Lines of the audit that are so old are removed; nullopt: none.
    std::optional<Duration> audit_after = {};
    // What a command's events send to receivers that are not sessions. Pure; empty: nothing.
    std::function<std::vector<port::PostRow>(session::State const&,
                                             std::span<wire::RecordPtr const>,
                                             std::vector<session::PendingChange> const&)>
        outgoing = {};
};

// The old lines at the beginning of the audit. The newest line of all is never one of them.
struct OldAudit {
    wire::AuditTrim trim = {};  // lines 0: there are none
    bool more = false;
};

// What was found in a page of sessions, and what became of it.
struct RepairReport {
    struct Found {
        SessionId session;
        std::string what;
        bool repaired = false;
        bool repairable = false;  // all of it can be made anew from the journal
    };
    std::uint64_t sessions = 0;  // looked at
    std::uint64_t events = 0;
    std::vector<Found> found;
    std::optional<std::uint64_t> next;  // where the next page goes on
};

class Runner final : private Host {
public:
    struct World {
        port::Loop& loop;
        port::Clock& clock;
        port::Entropy& entropy;
        port::Journal& journal;
        port::Effects& effects;
        port::AgentTerms const& agents;
        // For work on large commands, which would hold up everybody else; null: it is done on the
        // loop.
        port::Workers* workers = nullptr;
        port::ToolCatalogue* tools = nullptr;  // null: values of submissions are not checked
    };
    // `observer` and everything in `world` outlive this; the loop runs nothing of this runner's
    // after it is gone.
    Runner(World world, Options options, Observer& observer);
    ~Runner() override;

    // Begins to scan: from now on what is owed gets done.
    void start();
    static constexpr Duration drain_max{5'000};
    // Takes no more commands (503 draining), starts no more effects; `done` when nothing is on its
    // way to the store and no effect runs, or `limit` has passed.
    void drain(port::Fn<void()> done, Duration limit = drain_max);

    using Reply = Lane::Reply;
    void command(SessionId session, session::Command::Body body, Asker asker, Reply reply);
    // `create.id` is chosen here. With an Idempotency-Key the repeat finds the same session.
    void create(session::Create create, Asker asker, port::Fn<void(Result<Created>)> reply);
    // A change that gives the session an alias. Errors: alias_taken, and those of command().
    void rename(SessionId session, session::Change change, Asker asker, Reply reply);
    // The lane when everything before is durable; not_found when there is no such session.
    void look(SessionId session, port::Fn<void(Result<std::shared_ptr<Lane>>)> look);
    // All records of the session from `from` on, and its lane at that moment. `done` is called from
    // a look.
    struct Read {
        std::shared_ptr<Lane> lane;
        std::vector<wire::RecordPtr> records;
    };
    void read(SessionId session, Seq from, port::Fn<void(Result<Read>)> done);
    // The first of these records, about `page_bytes` of them and at least one if there is one.
    static constexpr std::size_t page_bytes = std::size_t{256} << 10;
    void read_page(SessionId session, Seq from, port::Fn<void(Result<Read>)> done);
    // The same for who reads events one after the other: of what retention took (State::base)
    // nothing, so that it begins after that at the earliest.
    void read_events(SessionId session, Seq from, port::Fn<void(Result<Read>)> done);

    // What a session's program did without being asked: taken as the outcome of an effect is.
    void observe(SessionId session, session::Command::Body what) {
        offer(session, {}, std::move(what));
    }

    // An effect runs no more and has no outcome: the next process starts it again. REQUIRES:
    // draining().
    void forget_effect(SessionId session, session::EffectId id) {
        auto const found = lanes_.find(session);
        if (found != lanes_.end()) found->second->forget_effect(id);
    }

    // Looks at a page of sessions with numbers above `after`, and mends what can be mended.
    static constexpr std::uint32_t repair_page = 256;
    void repair(std::uint64_t after, bool dry_run, Asker asker,
                port::Fn<void(Result<RepairReport>)> done);

    [[nodiscard]] Time now() const override { return clock_.now(); }
    [[nodiscard]] bool draining() const override { return draining_; }
    [[nodiscard]] bool recovered() const { return recovered_; }
    // Releases all sessions that are idle: there is too little memory.
    void release_idle() { release_rested(0, 0); }
    [[nodiscard]] std::size_t resident() const { return lanes_.size(); }
    // What lanes that rest weigh (Lane::weight).
    [[nodiscard]] std::size_t resident_bytes() const { return rested_bytes_; }
    // Sessions with calls that wait for a gate that is not there, and the first such gate of each;
    // at most `limit`.
    [[nodiscard]] std::vector<std::pair<SessionId, std::string>> held(std::size_t limit) const;
    // Set once a sync has failed: nothing is ever written again by this process (P10).
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] HeldClock const& clock() const { return clock_; }

    // Other projects to which sessions of this one may write.
    [[nodiscard]] std::vector<std::string> const& mail_projects(std::string const& project) const {
        static std::vector<std::string> const none;
        auto const found = options_.mail.find(project);
        return found == options_.mail.end() ? none : found->second.to;
    }
    // Lines of the audit from before `until`, the oldest `audit_page` of them: what there is, or is
    // gone when it is not `dry_run`. What was removed stands in a new line.
    static constexpr std::uint64_t audit_page = 10'000;
    void trim_audit(Time until, bool dry_run, Asker const& asker,
                    port::Fn<void(Result<OldAudit>)> done);

private:
    [[nodiscard]] Random random() override { return world_.entropy.random(); }
    [[nodiscard]] Epoch epoch() const override { return options_.epoch; }
    [[nodiscard]] session::Limits const& limits() const override { return options_.limits; }
    [[nodiscard]] session::MailPolicy mail_policy(std::string const& project) const override {
        auto const found = options_.mail.find(project);
        return found == options_.mail.end() ? session::MailPolicy() : found->second.policy;
    }
    [[nodiscard]] bool may_mail(std::string const& from, std::string const& to) const override {
        auto const& others = mail_projects(from);
        return std::ranges::find(others, to) != others.end();
    }
    [[nodiscard]] SubmissionCheck::World checks() const override {
        return {world_.tools, world_.workers};
    }
    [[nodiscard]] port::Journal& journal() override { return world_.journal; }
    [[nodiscard]] JournalWriter& writer() override { return writer_; }
    [[nodiscard]] port::Effects& effects() override { return world_.effects; }
    [[nodiscard]] port::AgentTerms const& agents() const override { return world_.agents; }
    void offer(SessionId session, session::EffectId id, session::Command::Body outcome) override;
    void offer_later(SessionId session, session::EffectId id,
                     session::Command::Body outcome) override;
    void store_failed(Error const& error) override;
    void wake_soon(SessionId session, Time at) override;
    void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        observer_.appended(lane, records);
    }
    [[nodiscard]] std::vector<port::PostRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) override {
        return options_.outgoing ? options_.outgoing(state, records, changes)
                                 : std::vector<port::PostRow>();
    }
    void posted(std::vector<port::PostRow> posts) override;
    [[nodiscard]] std::uint64_t next_session() const override { return next_number_; }
    void take_sessions(std::uint64_t count) override { next_number_ += count; }
    void rested(SessionId session) override;
    void release_rested(std::size_t lanes_max, std::size_t bytes_max);
    void unlist(SessionId session);
    bool release_lane(SessionId session);
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override {
        observer_.delta(session, ask, delta);
    }

    [[nodiscard]] std::shared_ptr<Lane> lane(SessionId session, bool fresh = false);
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
    void read_page(SessionId session, Seq from, bool events, port::Fn<void(Result<Read>)> done);
    void read_stored_page(SessionId session, Seq from, Seq head, port::Fn<void(Result<Read>)> done);
    void read_nothing(SessionId session, Seq next, port::Fn<void(Result<Read>)> done);
    [[nodiscard]] Incoming make(session::Command::Body body, Asker asker);
    void enter(SessionId session, Incoming incoming, Reply reply);
    [[nodiscard]] bool is_large(session::Command& command) const;
    void prepare(session::Command command, port::Fn<void(Result<session::Command>)> then);
    void refuse(SessionId session, Error error, Reply reply);
    void scan();
    void scan_page(Time until, std::optional<port::Due> after);
    void mend(VerifyReport const& found, bool dry_run, Asker const& asker,
              port::Fn<void(Result<RepairReport>)> done);
    void sweep();
    void sweep(std::vector<SessionId> const& completed);
    void sweep_again(Duration delay);
    void sweep_audit();
    void tick(SessionId session);
    void arm();
    void fire();
    void finish_drain();

    static constexpr std::uint32_t scan_page_size = 256;
    static constexpr std::uint32_t sweep_size = 64;
    static constexpr Duration sweep_every_max{60'000};
    static constexpr Duration audit_every_max{3'600'000};

    World world_;
    Options options_;
    HeldClock clock_;
    JournalWriter writer_;
    std::unordered_map<SessionId, std::shared_ptr<Lane>> lanes_;
    // Lanes that have come to rest, longest ago first; each at most once. With their weight then.
    using Rested = std::list<std::pair<SessionId, std::size_t>>;
    Rested rested_;
    std::unordered_map<SessionId, Rested::iterator> rested_at_;
    std::size_t rested_bytes_ = 0;
    // Of sessions that were put away although the scan finds them: they wait for a gate that this
    // process does not have. `next`: when there is something else to do for them.
    struct Held {
        std::string gate;
        std::optional<Time> next;
    };
    std::unordered_map<SessionId, Held> held_;
    std::map<Bits128, std::vector<port::Fn<void()>>> creating_;  // by key, and who waits for it
    std::uint64_t next_number_;
    // Times within the next scan or two: one timer a node, at the earliest.
    using Wake = std::pair<Time, SessionId>;
    std::set<Wake> wakes_;
    std::optional<Time> armed_;
    bool draining_ = false;
    bool recovered_ = false;
    bool failed_ = false;
    Time drain_until_{};
    port::Fn<void()> drained_;
    Observer& observer_;
    Outbox outbox_;
    Aliases aliases_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::runner
