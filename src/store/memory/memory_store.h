#pragma once
// The reference store: maps in memory, written for readability. Every other store must give the
// same answers (conformance.h). Simulations run on it.

#include "port/store.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::store {

// The data that a disk would hold. A copy is the data of a standby at that moment.
struct MemoryData {
    struct Session {
        port::SessionRow row;
        bool erased = false;
        std::map<Seq, port::Frame> frames;  // by first event
        port::Stamp stamp{};                // of the newest
        std::optional<port::SnapshotRow> snapshot;
        std::optional<Time> wake_at;
        Epoch driver = 0;
        std::map<std::pair<CallNo, Generation>, port::PendingRow> pending;
        std::map<std::string, Seq> keys;
        std::map<Seq, std::shared_ptr<std::string const>> artifacts;
        std::map<std::pair<CallNo, Generation>, std::string> secrets;
        std::vector<port::SentRow> sent;
    };
    struct Fed {
        std::uint64_t n = 0;
        SessionId session;
        Seq first = 0;
        bool deleted = false;
    };

    std::map<port::OutboxKey, port::OutboxRow> outbox;
    Epoch epoch = 0;
    // The processes that are not gone, each with its incarnation: after a fall-back two have had
    // one epoch.
    std::map<Epoch, std::uint64_t> nodes;
    std::map<std::uint64_t, Session> sessions;            // by number
    using Place = std::pair<std::string, std::uint64_t>;  // project, session
    std::set<Place> open;                                 // not deleted
    std::set<Place> waiting;                              // with a waiting call
    std::set<Place> failing;                              // whose status is error
    // Sessions that are due, by time: with a wake_at, or at time 0 with a driver.
    std::set<std::pair<Time, std::uint64_t>> wakeups;
    std::map<Bits128, std::uint64_t> created;  // create_key -> session
    std::deque<Fed> feed;                      // the newest, by n
    std::uint64_t feed_head = 0;
    std::map<Bits128, Bits128> delivered;  // key -> digest
    std::map<Bits128, port::KeptRow> kept;
    std::map<std::string, port::TokenRow> tokens;                           // by id
    std::map<std::string, port::DeviceRow> devices;                         // by id
    std::map<std::string, port::RuleRow> rules;                             // by id
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> day_sums;  // by day and name
    std::vector<port::AuditRow> audit;  // in order, without gaps
};

// The data, which outlives a MemoryStore. A simulator "restarts" a store by creating another one on
// the same disk. At most one store uses a disk at a time, or several that are `shared`.
struct MemoryDisk : MemoryData {
    std::mutex mutex;                // protects everything
    std::uint64_t incarnations = 0;  // of all processes that ever took part; never falls back
    std::uint64_t falls = 0;

    [[nodiscard]] MemoryData copy() {
        std::scoped_lock const lock(mutex);
        return static_cast<MemoryData const&>(*this);
    }
    // Everything since `earlier` was copied is lost, as by the promotion of an asynchronous
    // standby.
    void fall_back(MemoryData earlier) {
        std::scoped_lock const lock(mutex);
        static_cast<MemoryData&>(*this) = std::move(earlier);
        ++falls;
    }
};

class MemoryStore : public port::Store {
public:
    // `feed_kept`: how many appends of the feed are kept. `shared`: other objects append to `disk`.
    explicit MemoryStore(std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>(),
                         std::size_t feed_kept = 100'000, bool shared = false);

    [[nodiscard]] Epoch epoch() const override { return epoch_; }
    [[nodiscard]] bool shared() const override { return shared_; }
    [[nodiscard]] std::size_t readers() const override { return 1; }
    // Shared disks: returns the live processes, and whether this is one of them; declares one dead,
    // so that it never appends again under its epoch; takes part under a new one.
    [[nodiscard]] std::set<Epoch> nodes() const;
    [[nodiscard]] bool takes_part() const;
    void declare_gone(Epoch epoch);
    void join();
    [[nodiscard]] std::uint64_t next_session_number() override;
    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override;
    [[nodiscard]] Result<void> update_messages(
        std::span<port::OutboxUpdate const> updates) override;
    [[nodiscard]] Result<port::Loaded> load(SessionId session) override;
    [[nodiscard]] Result<std::vector<port::NewestFrame>> newest(
        std::span<SessionId const> sessions) override;
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override;
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys) override;
    [[nodiscard]] Result<std::vector<std::int64_t>> day_sums(
        std::int64_t day, std::span<std::string const> names) override;
    [[nodiscard]] Result<std::int64_t> day_mark(std::int64_t day,
                                                std::string const& suffix) override;
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation) override;
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due> after,
                                                     std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<Time>> next_due() override;
    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t before,
                                                                 std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t after,
                                                                     std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<std::string>> projects(std::string const& after,
                                                            std::uint32_t limit) override;
    [[nodiscard]] Result<port::SessionCounts> session_counts(std::string const& project,
                                                             std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t limit) override;
    [[nodiscard]] Result<std::uint64_t> session_bytes(SessionId session) override;
    [[nodiscard]] Result<std::uint64_t> journal_bytes(SessionId session) override;
    [[nodiscard]] Result<std::vector<port::SessionHead>> heads(std::uint64_t after,
                                                               std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at,
                                                                 std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter) override;
    [[nodiscard]] Result<std::vector<SessionId>> sessions_in_error(std::string const& project,
                                                                   std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls) override;
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t limit) override;
    [[nodiscard]] Result<std::uint64_t> count_waiting(std::string const& project,
                                                      std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId session) override;
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId session) override;
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq) override;
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count) override;
    [[nodiscard]] Result<port::FeedPage> feed(port::Projects const& projects, std::uint64_t after,
                                              std::size_t max_bytes) override;
    [[nodiscard]] Result<std::uint64_t> feed_head() override;
    [[nodiscard]] Result<std::uint64_t> feed_limit() override { return feed_head(); }
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& create_key) override;
    [[nodiscard]] Result<std::vector<port::OutboxRow>> due_messages(std::string const& kind,
                                                                    Time until,
                                                                    std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::DueMessage>> due_by_target(Time until,
                                                                      std::string const& after,
                                                                      std::uint32_t each,
                                                                      std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<port::OutboxRow>> outbox_message(
        port::OutboxKey const& key) override;
    [[nodiscard]] Result<std::vector<port::OutboxRow>> list_messages(
        port::OutboxFilter const& filter) override;
    [[nodiscard]] Result<std::optional<std::string>> project_of(SessionId session) override;
    [[nodiscard]] Result<void> drop_delivered(Time until) override;
    [[nodiscard]] Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit) override;
    [[nodiscard]] Result<void> drop_given_up(Time until, std::uint32_t limit) override;
    [[nodiscard]] Result<void> trim_audit(std::uint64_t through, std::string const& line) override;
    [[nodiscard]] Result<std::vector<port::SentRow>> sent(SessionId session, CallNo call,
                                                          Generation generation,
                                                          std::string const& target) override;
    [[nodiscard]] Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                            Generation generation) override;
    [[nodiscard]] Result<std::optional<Bits128>> delivered(Bits128 const& key) override;
    [[nodiscard]] Result<std::optional<port::KeptRow>> kept_delivery(Bits128 const& key) override;
    [[nodiscard]] Result<std::vector<port::KeptRow>> kept(
        std::optional<port::KeptPlace> const& after, std::uint32_t limit,
        std::size_t max_bytes) override;
    [[nodiscard]] Result<void> keep(port::KeptRow const& row) override;
    [[nodiscard]] Result<void> drop_kept(std::span<Bits128 const> keys) override;
    [[nodiscard]] Result<void> drop_old_kept(Time until) override;
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change) override;
    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens() override;
    [[nodiscard]] Result<void> change_devices(port::DeviceChange const& change) override;
    [[nodiscard]] Result<std::vector<port::DeviceRow>> devices() override;
    [[nodiscard]] Result<void> drop_rule(port::RuleDrop const& drop) override;
    [[nodiscard]] Result<std::vector<port::RuleRow>> rules() override;
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t after,
                                                            std::uint32_t limit) override;
    [[nodiscard]] Result<void> ping() override { return {}; }

protected:
    [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }

private:
    // REQUIRES for all: disk_->mutex is held.
    void enter();
    [[nodiscard]] bool is_member() const;
    [[nodiscard]] MemoryDisk::Session const* find(SessionId session) const;
    [[nodiscard]] bool comes_back(port::Append const& append) const;
    [[nodiscard]] bool has_undelivered(SessionId id) const;
    void forget_deleted(SessionId id);
    [[nodiscard]] bool fits(port::Append const& append) const;
    [[nodiscard]] bool is_newest(port::SourceFrame const& source) const;
    [[nodiscard]] port::AppendResult check(port::Append const& append) const;
    [[nodiscard]] port::AppendResult check_keys(port::Append const& append) const;
    [[nodiscard]] bool alias_taken(port::Append const& append) const;
    port::Stamp apply(port::Append const& append);
    void set_wake(std::uint64_t number, MemoryDisk::Session& session, std::optional<Time> wake_at,
                  Epoch driver);
    void drive(std::uint64_t number, MemoryDisk::Session& session, port::Append const& append);
    [[nodiscard]] bool may_drive(port::Append const& append) const;
    [[nodiscard]] bool may_take(port::Append const& append) const;
    // Puts the session into the lists where it belongs.
    void list(std::uint64_t number, MemoryDisk::Session const& session);
    void erase(std::uint64_t number, MemoryDisk::Session& session);
    static void cut(MemoryDisk::Session& session, port::BaseRow const& base);
    void rewrite(MemoryDisk::Session& session, port::Rewrite const& rewrite);
    void add_to_feed(port::Append const& append);
    void write_rules(port::Append const& append);
    void write_day_sums(port::Append const& append);
    void add_to_audit(std::string const& line);
    [[nodiscard]] std::optional<port::FeedRow> feed_row(MemoryDisk::Fed const& fed,
                                                        port::Projects const& projects) const;

    std::shared_ptr<MemoryDisk> const disk_;
    std::size_t const feed_kept_;
    bool const shared_;
    Epoch epoch_ = 0;
    std::uint64_t incarnation_ = 0;
};

}  // namespace dormouse::store
