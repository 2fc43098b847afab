#pragma once
// The interface of a storage backend: a plain blocking class of rows and bytes that decodes only
// its own rows. One object implements all of it, because one append writes rows of most parts; each
// user takes the part that it needs. No function has a default: a store that omits one does not
// compile.
//
// Threads: commit(), update_messages(), drop_delivered(), drop_given_up(), change_tokens(),
// change_devices(), drop_rule(), keep(), drop_kept(), drop_old_kept() and trim_audit() are called
// by one thread at a time (the writer); all other members by as many threads at a time as readers()
// says, possibly during a commit. Later reads see what a commit reported as done; of a failed
// commit they see all or nothing, and always the same. Errors: store_unavailable (may recover),
// store_full (the disk), fail_stop (a sync failed: this object never writes again), internal
// (damage: `detail` names the row and file).

#include "port/store_rows.h"

namespace dormouse::port {

// Properties of an opened store.
class OpenedStore {
public:
    virtual ~OpenedStore() = default;
    // The epoch of this owner: how often the store was opened, counted durably, from 1.
    [[nodiscard]] virtual Epoch epoch() const = 0;
    // Returns true if other processes may append while this object lives.
    [[nodiscard]] virtual bool shared() const = 0;
    // Returns the number of threads that may read at the same time. Any thread.
    [[nodiscard]] virtual std::size_t readers() const = 0;
    // One more than the largest session number ever used or reserved by an outbox message. Read
    // once, at start.
    [[nodiscard]] virtual std::uint64_t next_session_number() = 0;
};

// Appends.
class AppendStore {
public:
    virtual ~AppendStore() = default;
    // Commits all appends in one transaction with one sync. Results are in the order of `appends`;
    // each append succeeds or fails alone.
    [[nodiscard]] virtual std::vector<AppendResult> commit(std::span<Append const> appends) = 0;
};

// Reads what appends stored for one session, and the daily sums that they changed.
class JournalStore {
public:
    virtual ~JournalStore() = default;
    [[nodiscard]] virtual Result<Loaded> load(SessionId session) = 0;
    // Returns the newest frame of each session's journal, in order. Reads only its key and
    // checksum.
    [[nodiscard]] virtual Result<std::vector<NewestFrame>> newest(
        std::span<SessionId const> sessions) = 0;
    // Frames that hold events from `from` on, in order, until `max_bytes` of content are reached
    // (at least one frame if any exists). The first frame may begin before `from`.
    [[nodiscard]] virtual Result<std::vector<Frame>> page(SessionId session, Seq from,
                                                          std::size_t max_bytes) = 0;
    // The event of each key, 0 if the key does not exist. In order.
    [[nodiscard]] virtual Result<std::vector<Seq>> lookup(SessionId session,
                                                          std::span<std::string const> keys) = 0;
    [[nodiscard]] virtual Result<std::optional<PendingRow>> pending(SessionId session, CallNo call,
                                                                    Generation generation) = 0;
    // The artifact stored with this event; nullopt: none.
    [[nodiscard]] virtual Result<std::optional<std::string>> artifact(SessionId session,
                                                                      Seq seq) = 0;
    // Up to `count` bytes of the artifact from `offset` on, fewer only at its end; nullopt: no
    // artifact. Not verified: the checksum covers the whole artifact.
    [[nodiscard]] virtual Result<std::optional<std::string>> artifact_piece(SessionId session,
                                                                            Seq seq,
                                                                            std::uint64_t offset,
                                                                            std::size_t count) = 0;
    // Size of the journal alone. For retention.
    [[nodiscard]] virtual Result<std::uint64_t> journal_bytes(SessionId session) = 0;
    // The sums of a day, 0 if there is none. In order.
    [[nodiscard]] virtual Result<std::vector<std::int64_t>> day_sums(
        std::int64_t day, std::span<std::string const> names) = 0;
    // A number that changes when a sum of the day whose name ends in `suffix` does; 0: there is no
    // such sum.
    [[nodiscard]] virtual Result<std::int64_t> day_mark(std::int64_t day,
                                                        std::string const& suffix) = 0;
};

// Sessions that have work to do at a time.
class WakeStore {
public:
    virtual ~WakeStore() = default;
    // Sessions with wake_at <= until, by (time, number), after the given pair; at most `limit`. See
    // Due.
    [[nodiscard]] virtual Result<std::vector<Due>> due(Time until, std::optional<Due> after,
                                                       std::uint32_t limit) = 0;
    // The earliest wake_at of all sessions.
    [[nodiscard]] virtual Result<std::optional<Time>> next_due() = 0;
};

// Calls that wait, of all sessions.
class PendingStore {
public:
    virtual ~PendingStore() = default;
    [[nodiscard]] virtual Result<std::vector<PendingListed>> list_pending(
        PendingFilter const& filter) = 0;
    // Counts waiting calls, up to `limit`. For metrics.
    [[nodiscard]] virtual Result<OpenPending> open_pending(std::uint32_t limit) = 0;
    // The number of waiting calls of the project, up to `limit`.
    [[nodiscard]] virtual Result<std::uint64_t> count_waiting(std::string const& project,
                                                              std::uint32_t limit) = 0;
    // Sessions of all projects with a waiting call, each once, in an order of the store. Reads
    // `calls` of these calls, from after the session `after`. For doctor.
    [[nodiscard]] virtual Result<std::vector<SessionId>> waiting_sessions(
        std::optional<SessionId> after, std::uint32_t calls) = 0;
};

// Lists of sessions that need no journal.
class ListStore {
public:
    virtual ~ListStore() = default;
    // Newest first; `before`: only sessions with a smaller number (0: from the newest). Without
    // deleted sessions.
    [[nodiscard]] virtual Result<std::vector<SessionRow>> sessions(std::string const& project,
                                                                   std::uint64_t before,
                                                                   std::uint32_t limit) = 0;
    // Sessions of the project that have an alias and are neither completed nor deleted, by alias
    // and number; with `alias`, only sessions with that alias.
    [[nodiscard]] virtual Result<std::vector<SessionRow>> aliases(std::string const& project,
                                                                  std::string const& alias,
                                                                  std::uint32_t limit) = 0;
    // Projects that have a session which is not deleted, each once, in an order of the store, from
    // after `after` (empty: from the first). The cost depends on their number only.
    [[nodiscard]] virtual Result<std::vector<std::string>> projects(std::string const& after,
                                                                    std::uint32_t limit) = 0;
    // Counts each up to `limit`, which alone the cost depends on.
    [[nodiscard]] virtual Result<SessionCounts> session_counts(std::string const& project,
                                                               std::uint32_t limit) = 0;
    // Sessions of the project whose status is "error", at most `limit`, on which alone the cost
    // depends, in an order of the store. For doctor.
    [[nodiscard]] virtual Result<std::vector<SessionId>> sessions_in_error(
        std::string const& project, std::uint32_t limit) = 0;
    // The project of a session, even if it was deleted.
    [[nodiscard]] virtual Result<std::optional<std::string>> project_of(SessionId session) = 0;
    // The session that was created under this key; nullopt: none.
    [[nodiscard]] virtual Result<std::optional<SessionId>> find_created(
        Bits128 const& create_key) = 0;
};

// Outbox messages, and the secrets that sign webhooks.
class OutboxStore {
public:
    virtual ~OutboxStore() = default;
    // Pending messages of the kind with next_at <= until, by (next_at, sender's number, seq, n), at
    // most `limit`.
    [[nodiscard]] virtual Result<std::vector<OutboxRow>> due_messages(std::string const& kind,
                                                                      Time until,
                                                                      std::uint32_t limit) = 0;
    // Pending messages to targets other than sessions with next_at <= until: the `each` earliest of
    // each target, targets in order from after `after`, until there are `limit` rows. So a target
    // with many messages does not hide the others.
    [[nodiscard]] virtual Result<std::vector<DueMessage>> due_by_target(Time until,
                                                                        std::string const& after,
                                                                        std::uint32_t each,
                                                                        std::uint32_t limit) = 0;
    [[nodiscard]] virtual Result<std::optional<OutboxRow>> outbox_message(OutboxKey const& key) = 0;
    // Returns messages by key, largest first. The project is the sender's.
    [[nodiscard]] virtual Result<std::vector<OutboxRow>> list_messages(
        OutboxFilter const& filter) = 0;
    // Updates all rows in one transaction with one sync. Skips rows that do not exist.
    [[nodiscard]] virtual Result<void> update_messages(std::span<OutboxUpdate const> updates) = 0;
    // Removes messages delivered before `until`. Called by the writer.
    [[nodiscard]] virtual Result<void> drop_delivered(Time until) = 0;
    // Messages to targets other than sessions that were given up before `until`, counted up to
    // `limit`.
    [[nodiscard]] virtual Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit) = 0;
    // Removes `limit` of them. Called by the writer.
    [[nodiscard]] virtual Result<void> drop_given_up(Time until, std::uint32_t limit) = 0;
    // The webhook secret of a pause; nullopt: none.
    [[nodiscard]] virtual Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                                    Generation generation) = 0;
    // The messages about a pause that the target took and OutboxUpdate::closed did not remove, by
    // reference; at most 100.
    [[nodiscard]] virtual Result<std::vector<SentRow>> sent(SessionId session, CallNo call,
                                                            Generation generation,
                                                            std::string const& target) = 0;
};

// Deliveries of webhook sources: those that were accepted, and those that wait for their call.
class InboundStore {
public:
    virtual ~InboundStore() = default;
    // The digest of a delivery that was accepted or is kept; nullopt: unknown.
    [[nodiscard]] virtual Result<std::optional<Bits128>> delivered(Bits128 const& key) = 0;
    // The delivery, if it is kept.
    [[nodiscard]] virtual Result<std::optional<KeptRow>> kept_delivery(Bits128 const& key) = 0;
    // Kept deliveries, oldest first, from after `after` (nullopt: from the oldest): at most
    // `limit`, and until `max_bytes` of bodies are reached.
    [[nodiscard]] virtual Result<std::vector<KeptRow>> kept(std::optional<KeptPlace> const& after,
                                                            std::uint32_t limit,
                                                            std::size_t max_bytes) = 0;
    // Keeps a delivery; conflict: it is known. Called by the writer.
    [[nodiscard]] virtual Result<void> keep(KeptRow const& row) = 0;
    // Removes kept deliveries. Called by the writer.
    [[nodiscard]] virtual Result<void> drop_kept(std::span<Bits128 const> keys) = 0;
    // Removes all that were kept before `until`. Called by the writer.
    [[nodiscard]] virtual Result<void> drop_old_kept(Time until) = 0;
};

// Access tokens.
class AccessStore {
public:
    virtual ~AccessStore() = default;
    // Returns all tokens, by id.
    [[nodiscard]] virtual Result<std::vector<TokenRow>> tokens() = 0;
    // Durable when it returns. Called by the writer.
    [[nodiscard]] virtual Result<void> change_tokens(TokenChange const& change) = 0;
};

// Devices that get notifications.
class DeviceStore {
public:
    virtual ~DeviceStore() = default;
    // Returns all devices, by id. Read once, at start.
    [[nodiscard]] virtual Result<std::vector<DeviceRow>> devices() = 0;
    // Durable when it returns. Called by the writer.
    [[nodiscard]] virtual Result<void> change_devices(DeviceChange const& change) = 0;
};

// Standing rules. Appends make and count them.
class RuleStore {
public:
    virtual ~RuleStore() = default;
    // Returns all rules, by id. Read once, at start.
    [[nodiscard]] virtual Result<std::vector<RuleRow>> rules() = 0;
    // Durable when it returns. Called by the writer.
    [[nodiscard]] virtual Result<void> drop_rule(RuleDrop const& drop) = 0;
};

// The audit log: lines in the order of the commits.
class AuditStore {
public:
    virtual ~AuditStore() = default;
    // Lines after number `after`, in order.
    [[nodiscard]] virtual Result<std::vector<AuditRow>> audit(std::uint64_t after,
                                                              std::uint32_t limit) = 0;
    // Removes the lines up to `through` and adds `line`, which records that, in one transaction.
    // Called by the writer. REQUIRES: a line after `through` exists.
    [[nodiscard]] virtual Result<void> trim_audit(std::uint64_t through,
                                                  std::string const& line) = 0;
};

// The newest appends of all sessions, in the order of their commits.
class FeedStore {
public:
    virtual ~FeedStore() = default;
    // Appends of the projects after number `after` (0: from the oldest stored one), until
    // `max_bytes` of content or a bounded number of rows of all projects have been read.
    [[nodiscard]] virtual Result<FeedPage> feed(Projects const& projects, std::uint64_t after,
                                                std::size_t max_bytes) = 0;
    // The number of the newest append up to which a reader has all; 0: none. Where several
    // processes write, it is less for a moment while one of them commits.
    [[nodiscard]] virtual Result<std::uint64_t> feed_head() = 0;
    // A number that no reader of this store has exceeded.
    [[nodiscard]] virtual Result<std::uint64_t> feed_limit() = 0;
};

// For verify, retention and readiness: all sessions, and whether the store works.
class MaintenanceStore {
public:
    virtual ~MaintenanceStore() = default;
    // All sessions of all projects by number, oldest first, with deleted ones. For verify and
    // doctor.
    [[nodiscard]] virtual Result<std::vector<SessionRow>> all_sessions(std::uint64_t after,
                                                                       std::uint32_t limit) = 0;
    // Sessions by number, oldest first, without deleted ones. For retention.
    [[nodiscard]] virtual Result<std::vector<SessionHead>> heads(std::uint64_t after,
                                                                 std::uint32_t limit) = 0;
    // Sessions in status "completed" whose row was last written at or before `at`, oldest first.
    [[nodiscard]] virtual Result<std::vector<SessionId>> completed_until(Time at,
                                                                         std::uint32_t limit) = 0;
    // Bytes that deleting the session would free: its journal, snapshot and artifacts. For
    // retention.
    [[nodiscard]] virtual Result<std::uint64_t> session_bytes(SessionId session) = 0;
    // All pending rows and keys of one session in key order. For verify, export and
    // doctor.
    [[nodiscard]] virtual Result<std::vector<PendingRow>> pending_rows(SessionId session) = 0;
    [[nodiscard]] virtual Result<std::vector<KeyRow>> key_rows(SessionId session) = 0;
    // A cheap query that fails while the store does not work. For /readyz.
    [[nodiscard]] virtual Result<void> ping() = 0;
};

class Store : public OpenedStore,
              public AppendStore,
              public JournalStore,
              public WakeStore,
              public PendingStore,
              public ListStore,
              public OutboxStore,
              public InboundStore,
              public AccessStore,
              public DeviceStore,
              public RuleStore,
              public AuditStore,
              public FeedStore,
              public MaintenanceStore {};

}  // namespace dormouse::port
