#pragma once
// What a store author writes: a plain blocking class of rows and bytes. It decodes nothing but its
// own rows. One object implements all of it, because one append writes rows of most parts at once;
// each user takes the part that it needs. No function has a default: a store that forgets one does
// not compile.
//
// Threads: commit(), update_posts(), change_tokens(), keep() and drop_kept() are called by one
// thread at a time (the writer); all other members by one thread at a time (the reader), at the
// same moment as a commit. Later reads see what a commit returned as done; of one that failed they
// see all or nothing, and always the same. Errors: store_unavailable (may come back), store_full
// (the disk), fail_stop (a sync failed: nothing is ever written again by this object), internal
// (damage found: the row and file are named in `detail`).

#include "port/store_rows.h"

namespace dormouse::port {

// Appends, and what they stored of one session.
class JournalStore {
public:
    virtual ~JournalStore() = default;
    // How often this store was opened, counted durably: the epoch of this owner. From 1.
    [[nodiscard]] virtual Epoch epoch() const = 0;
    // One more than the largest session number ever used, or taken by a post. Read once, at start.
    [[nodiscard]] virtual std::uint64_t next_session_number() = 0;
    // One transaction and one sync for all; results in the order of `appends`, each standing or
    // falling alone.
    [[nodiscard]] virtual std::vector<Result<void>> commit(std::span<Append const> appends) = 0;
    [[nodiscard]] virtual Result<Loaded> load(SessionId session) = 0;
    // Frames that hold events from `from` on, in order, until `max_bytes` of content are reached
    // (at least one frame when there is one). The first frame may begin before `from`.
    [[nodiscard]] virtual Result<std::vector<Frame>> page(SessionId session, Seq from,
                                                          std::size_t max_bytes) = 0;
    // For each key its event, 0 when there is none. In order.
    [[nodiscard]] virtual Result<std::vector<Seq>> lookup(SessionId session,
                                                          std::span<std::string const> keys) = 0;
    [[nodiscard]] virtual Result<std::optional<PendingRow>> pending(SessionId session, CallNo call,
                                                                    Generation generation) = 0;
    [[nodiscard]] virtual Result<std::vector<PendingListed>> list_pending(
        PendingFilter const& filter) = 0;
    // What an append stored with this event; nullopt: nothing.
    [[nodiscard]] virtual Result<std::optional<std::string>> artifact(SessionId session,
                                                                      Seq seq) = 0;
    // Up to `count` bytes of it from `offset` on, fewer only at its end; nullopt: there is none.
    // Not compared with its checksum, which is of the whole.
    [[nodiscard]] virtual Result<std::optional<std::string>> artifact_piece(SessionId session,
                                                                            Seq seq,
                                                                            std::uint64_t offset,
                                                                            std::size_t count) = 0;
    [[nodiscard]] virtual Result<std::optional<SessionId>> find_created(
        Bits128 const& create_key) = 0;
    // Every pending row and key of one session in key order: for verify.
    [[nodiscard]] virtual Result<std::vector<PendingRow>> pending_rows(SessionId session) = 0;
    [[nodiscard]] virtual Result<std::vector<KeyRow>> key_rows(SessionId session) = 0;
    // Of its journal alone. For retention.
    [[nodiscard]] virtual Result<std::uint64_t> journal_bytes(SessionId session) = 0;
    // Sessions with wake_at <= until, by (time, number), after the pair given; at most `limit`.
    [[nodiscard]] virtual Result<std::vector<Due>> due(Time until, std::optional<Due> after,
                                                       std::uint32_t limit) = 0;
    // The earliest wake_at of all.
    [[nodiscard]] virtual Result<std::optional<Time>> next_due() = 0;
};

// What lists show of many sessions without reading their journals.
class ListStore {
public:
    virtual ~ListStore() = default;
    // Newest first; `before`: only sessions with a smaller number (0: from the newest). Deleted
    // ones are left out.
    [[nodiscard]] virtual Result<std::vector<SessionRow>> sessions(std::string const& project,
                                                                   std::uint64_t before,
                                                                   std::uint32_t limit) = 0;
    // Sessions of the project that have an alias and are neither completed nor deleted, by alias
    // and number; with `alias` only those that have that one.
    [[nodiscard]] virtual Result<std::vector<SessionRow>> aliases(std::string const& project,
                                                                  std::string const& alias,
                                                                  std::uint32_t limit) = 0;
    // Counts waiting calls until there are `limit` of them: for metrics.
    [[nodiscard]] virtual Result<OpenPending> open_pending(std::uint32_t limit) = 0;
    // Sessions of all projects in which a call waits, each once and in an order of the store's own;
    // looks at `calls` of these calls, from behind the session `after` on: for doctor.
    [[nodiscard]] virtual Result<std::vector<SessionId>> waiting_sessions(
        std::optional<SessionId> after, std::uint32_t calls) = 0;
    // The project of a session, also of one that has been deleted.
    [[nodiscard]] virtual Result<std::optional<std::string>> project_of(SessionId session) = 0;
};

// Messages that sessions send and do not wait for, and the secrets that sign them.
class OutboxStore {
public:
    virtual ~OutboxStore() = default;
    // Pending posts of the kind with next_at <= until, by (next_at, sender's number, seq, n), at
    // most `limit`.
    [[nodiscard]] virtual Result<std::vector<PostRow>> due_posts(std::string const& kind,
                                                                 Time until,
                                                                 std::uint32_t limit) = 0;
    // Pending posts to others than sessions with next_at <= until: of each target the `each`
    // earliest, targets in order from behind `after` on, until there are `limit` rows. So one with
    // many hides nobody.
    [[nodiscard]] virtual Result<std::vector<DuePost>> due_by_target(Time until,
                                                                     std::string const& after,
                                                                     std::uint32_t each,
                                                                     std::uint32_t limit) = 0;
    [[nodiscard]] virtual Result<std::optional<PostRow>> post(PostKey const& key) = 0;
    // By key, largest first. The project is its sender's.
    [[nodiscard]] virtual Result<std::vector<PostRow>> list_posts(PostFilter const& filter) = 0;
    // One transaction and one sync for all. A row that does not exist is skipped.
    [[nodiscard]] virtual Result<void> update_posts(std::span<PostUpdate const> updates) = 0;
    // Forgets what was delivered before `until`; writes, as update_posts() does.
    [[nodiscard]] virtual Result<void> drop_delivered(Time until) = 0;
    // Posts to others than sessions that were given up before `until`, counted up to `limit`.
    [[nodiscard]] virtual Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit) = 0;
    // Forgets `limit` of them; writes, as update_posts() does.
    [[nodiscard]] virtual Result<void> drop_given_up(Time until, std::uint32_t limit) = 0;
    // The secret of a pause; nullopt: it has none.
    [[nodiscard]] virtual Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                                    Generation generation) = 0;
};

// Deliveries of webhook sources: those that were taken, and those that wait for their call.
class InboundStore {
public:
    virtual ~InboundStore() = default;
    // The digest of a delivery that was taken or is kept; nullopt: it never came.
    [[nodiscard]] virtual Result<std::optional<Bits128>> delivered(Bits128 const& key) = 0;
    // All that is kept, oldest first; at most `limit`.
    [[nodiscard]] virtual Result<std::vector<KeptRow>> kept(std::uint32_t limit) = 0;
    // Writes, as commit() does: called by the writer. Keeps a delivery; conflict: it is known.
    [[nodiscard]] virtual Result<void> keep(KeptRow const& row) = 0;
    // Forgets these of the kept ones; writes, as keep() does.
    [[nodiscard]] virtual Result<void> drop_kept(std::span<Bits128 const> keys) = 0;
};

// Who may call.
class AccessStore {
public:
    virtual ~AccessStore() = default;
    // By id.
    [[nodiscard]] virtual Result<std::vector<TokenRow>> tokens() = 0;
    // Called on the writer's thread, like commit(); durable when it returns.
    [[nodiscard]] virtual Result<void> change_tokens(TokenChange const& change) = 0;
};

// The audit: lines in the order of the commits.
class AuditStore {
public:
    virtual ~AuditStore() = default;
    // Lines of the audit after `after`, in order.
    [[nodiscard]] virtual Result<std::vector<AuditRow>> audit(std::uint64_t after,
                                                              std::uint32_t limit) = 0;
    // Removes the lines up to `through` and adds one that says so, as one; writes, as commit()
    // does. REQUIRES: there is a line after `through`.
    [[nodiscard]] virtual Result<void> trim_audit(std::uint64_t through,
                                                  std::string const& line) = 0;
};

// The newest appends of all sessions, in the order of their commits.
class FeedStore {
public:
    virtual ~FeedStore() = default;
    // Appends of the project after number `after` (0: from the oldest that is kept), until
    // `max_bytes` of content or a bounded number of rows of all projects have been read.
    [[nodiscard]] virtual Result<FeedPage> feed(std::string const& project, std::uint64_t after,
                                                std::size_t max_bytes) = 0;
    // The number of the newest append; 0: none yet.
    [[nodiscard]] virtual Result<std::uint64_t> feed_head() = 0;
};

// For verify, retention and readiness: all sessions, and whether the store serves.
class MaintenanceStore {
public:
    virtual ~MaintenanceStore() = default;
    // Every session of every project by number, oldest first, deleted ones too: for verify and
    // doctor.
    [[nodiscard]] virtual Result<std::vector<SessionRow>> all_sessions(std::uint64_t after,
                                                                       std::uint32_t limit) = 0;
    // Sessions by number, oldest first, without deleted ones. For retention.
    [[nodiscard]] virtual Result<std::vector<SessionHead>> heads(std::uint64_t after,
                                                                 std::uint32_t limit) = 0;
    // Sessions in status "completed" whose row was last written at `at` or before, oldest first.
    [[nodiscard]] virtual Result<std::vector<SessionId>> completed_until(Time at,
                                                                         std::uint32_t limit) = 0;
    // What deleting the session would free: its journal, snapshot and artifacts. For retention.
    [[nodiscard]] virtual Result<std::uint64_t> session_bytes(SessionId session) = 0;
    // A cheap question that fails while the store cannot serve: /readyz.
    [[nodiscard]] virtual Result<void> ping() = 0;
};

class Store : public JournalStore,
              public ListStore,
              public OutboxStore,
              public InboundStore,
              public AccessStore,
              public AuditStore,
              public FeedStore,
              public MaintenanceStore {};

}  // namespace dormouse::port
