#pragma once
// Rows that a store keeps, and the filters of its lists. Plain values.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/time.h>

#include "port/audit.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::port {

// The events of one append, packed by wire/journal/record.h; opaque here. The store adds a checksum
// over the frame and its key.
struct Frame {
    Seq first = 0;            // sequence number of its first event
    std::uint32_t count = 0;  // number of events in it
    std::string bytes;
};

// Identifies a session's newest frame: 64 bits of SHA-256 over its place and its bytes. A store
// that lost its newest appends can reach the same head again with other events; the stamp differs
// then.
enum class Stamp : std::uint64_t { none = 0 };
[[nodiscard]] Stamp stamp_of(SessionId session, Frame const& frame);

// The end of a session's journal. Default: it has none.
struct NewestFrame {
    Seq head = 0;
    Stamp stamp{};
    friend bool operator==(NewestFrame const&, NewestFrame const&) = default;
};

// running: a row says it only between attempts (runner's row_turn()). failed: its newest turn did.
enum class TurnState : std::uint8_t { rest, running, failed };

// The fields of a session that lists show without reading its journal. Written when one of these
// fields changes.
struct SessionRow {
    SessionId id;
    std::string project;
    std::string agent;
    std::string alias;   // empty: none
    std::string title;   // empty: none
    std::string status;  // active, paused, completed, error, deleted
    Time created{};
    Time updated{};  // when this row was last written
    TurnState turn = TurnState::rest;
};

// A session and its newest event.
struct SessionHead {
    SessionId session;
    Seq head = 0;
    friend bool operator==(SessionHead const&, SessionHead const&) = default;
};

enum class PendingStatus : std::uint8_t { waiting, completed, failed, expired, cancelled };

// One pause of one call (table pending_tool_calls). Its content stays in the journal, in the events
// `paused` and `settled`.
struct PendingRow {
    CallNo call = 0;
    Generation generation = 0;
    PendingStatus status = PendingStatus::waiting;
    std::string tool;
    Time created{};
    std::optional<Time> timeout;  // deadline
    // Event that opened it: tool_started, call_paused, gate_asked, agent_asked or in_doubt.
    Seq paused = 0;
    Seq settled = 0;                // settling event, with the receipt; 0 while open
    std::string external_ref = {};  // the external job's own id; empty: none

    friend bool operator==(PendingRow const&, PendingRow const&) = default;
};

// Finds a closed thing by key. Immutable once written. `key` has at most 64 bytes.
struct KeyRow {
    std::string key;
    Seq seq = 0;
    friend bool operator==(KeyRow const&, KeyRow const&) = default;
};

struct SnapshotRow {
    Seq seq = 0;               // the state after this event
    std::uint32_t format = 0;  // version of the encoding of `state`
    std::string state;
};

// Bytes too large for a record, stored under the event that names them.
struct ArtifactRow {
    Seq seq = 0;
    std::shared_ptr<std::string const> bytes;  // never null
};

// An outbox message: sent by a session, stored in the append that sends it.
struct OutboxKey {
    SessionId from;
    Seq seq = 0;  // the event that sends it
    std::uint32_t n = 0;
    friend auto operator<=>(OutboxKey const&, OutboxKey const&) = default;
};

// `dead` and `disabled` are not tried again; `delivered` is kept so that its outcome can be read.
enum class OutboxState : std::uint8_t { pending, delivered, dead, disabled };

struct OutboxRow {
    OutboxKey key;
    std::string kind;    // which component delivers it: "session", "webhook"
    std::string target;  // a session id or a URL
    std::string body;    // Opaque here. The store adds a checksum over body and key.
    // The session that its delivery creates. The number is reserved from now on.
    std::optional<SessionId> makes = {};
    OutboxState state = OutboxState::pending;
    Time created{};
    Time next_at{};  // Pending: when it is tried next. Given up: since when.
    std::uint32_t attempts = 0;
    std::int32_t last_status = 0;  // HTTP status; 0: none
    std::string last_error = {};
    std::optional<Time> delivered = {};
    friend bool operator==(OutboxRow const&, OutboxRow const&) = default;
};

// A due message to a target other than a session.
struct DueMessage {
    OutboxKey key;
    std::string target;
    std::uint32_t attempts = 0;  // failed attempts
    friend bool operator==(DueMessage const&, DueMessage const&) = default;
};

// A message that a chat service took, and that changes when the call is decided.
struct SentRow {
    CallNo call = 0;
    Generation generation = 0;
    std::string target;     // as in OutboxRow
    std::string reference;  // its name in the service; unique for the target and the pause
    std::string body = {};  // what it said, opaque here
    friend bool operator==(SentRow const&, SentRow const&) = default;
};

// A pending message as an attempt to deliver it began.
struct OutboxAttempt {
    std::uint32_t attempts = 0;
    Time next_at{};
    friend bool operator==(OutboxAttempt const&, OutboxAttempt const&) = default;
};

// A message that this process has claimed.
struct OutboxClaim {
    OutboxKey key;
    OutboxAttempt attempt;
};

// New delivery state of a message. No other column of its row ever changes.
struct OutboxUpdate {
    OutboxKey key;
    bool gone = false;  // deletes the row; the other members except `attempt` are ignored
    // The outcome of this attempt: the row changes only if it still is as the attempt began. `sent`
    // and `closed` count in any case, because the receiver has those messages.
    std::optional<OutboxAttempt> attempt = {};
    OutboxState state = OutboxState::pending;
    Time next_at{};
    std::uint32_t attempts = 0;
    std::int32_t last_status = 0;
    std::string last_error = {};
    std::optional<Time> delivered = {};
    // Rows of the sender's session: a message that is remembered from now on, and one that is
    // forgotten.
    std::optional<SentRow> sent = {};
    std::optional<SentRow> closed = {};
};

// Filter of lists of messages to targets other than sessions.
struct OutboxFilter {
    std::string project = {};
    std::optional<OutboxState> state = {};  // nullopt: all
    std::optional<OutboxKey> before = {};   // page: smaller keys only
    std::uint32_t limit = 50;
};

// Signs the webhooks of one pause; no record holds it. Replaces an older one.
struct SecretRow {
    CallNo call = 0;
    Generation generation = 0;
    std::string secret;
};

// A standing rule. `body` is opaque here; the store adds a checksum over it and the id.
struct RuleRow {
    std::string id;
    std::string body;
    // Set: it answers only in this session, and is removed with it.
    std::optional<SessionId> session = {};
    std::uint64_t uses = 0;
    std::optional<Time> used = {};  // the newest use
    friend bool operator==(RuleRow const&, RuleRow const&) = default;
};
struct RuleUse {
    std::string id;
    Time at{};
};

// A sum of one day, over all sessions. A later append removes the sums of days long past.
struct DayRow {
    std::int64_t day = 0;  // of UTC, since 1970-01-01
    std::string name;
    std::int64_t amount = 0;  // what an append adds to it, not negative
    friend bool operator==(DayRow const&, DayRow const&) = default;
};
// The number of days before the day of an append that are kept.
inline constexpr std::int64_t days_kept = 7;
// JournalStore::day_mark() adds sums modulo this, so that it does not overflow.
inline constexpr std::int64_t mark_modulus = 9'007'199'254'740'881;

// Atomic, with its line in the audit log. If the rule does not exist: conflict, and nothing is
// changed.
struct RuleDrop {
    std::string id;
    std::string audit = {};  // a line; empty: none
};

// An accepted delivery of a source. `digest`: of its body.
struct DeliveredRow {
    Bits128 key{};
    Bits128 digest{};
};

// The place of a kept delivery in the order of their times.
struct KeptPlace {
    Time at{};
    Bits128 key{};
};

// A signed payload whose call does not exist yet; kept until it does.
struct KeptRow {
    DeliveredRow delivery;
    std::string delivery_id;
    Time at{};
    std::string source;
    std::string project;
    std::string reference;  // the externalRef that its call will have
    std::string body;
};

// Replaces a session's oldest frames by one frame, at the place of the last of them. Also removes
// closed pending rows up to `through`, keys up to it whose first byte is in `keys`, secrets of
// calls up to `call`, and artifacts up to `through` that are not listed.
struct BaseRow {
    Frame frame;
    Seq through = 0;
    CallNo call = 0;
    std::string keys;
    std::vector<Seq> artifacts;  // artifacts that stay
};

// Removes content that older frames of the session hold. Each frame replaces the stored one of the
// same place; their number of events is the same. Afterwards no file of the store holds what was
// removed, as far as the store can do that (docs/design/redaction.md).
struct Rewrite {
    std::vector<Frame> frames;      // REQUIRES: all precede the frame of the append
    std::vector<Seq> artifacts;     // of these events
    std::vector<OutboxKey> outbox;  // those that have no row any more are skipped
    std::vector<CallNo> calls;      // their SentRows
};

// The driver of the session after an append: the process, named by its epoch, that does the
// session's outstanding work. A store that one process at a time opens ignores it.
enum class Drive : std::uint8_t {
    none,   // decided by a process that does not drive the session; the driver stays as it is
    keep,   // decided by the driver, which has work to do: it is Append::epoch from now on
    leave,  // decided by the driver, and no work is left: from now on there is none
};

// The session from which an append copies, and its newest frame when it was read.
struct SourceFrame {
    SessionId session;
    NewestFrame newest;
};

// One session's append: atomic. Fails alone as `moved` if the session's newest frame is not the one
// that `after` and `stamp` name, or if a driver decided it while another process that is not gone
// is the driver.
struct Append {
    SessionId session;
    Epoch epoch = 0;
    Drive drive = Drive::none;
    Seq after = 0;  // the head on which it was decided
    // The newest frame on which it was decided; nullopt: only the head is compared.
    std::optional<Stamp> stamp = {};
    // frame.first == after + 1. Count 0: only the driver is written. REQUIRES then: drive != none
    // and nothing of the members below is set.
    Frame frame;
    // The earliest time of outstanding work; nullopt: the session sleeps. Written only if
    // `wake_changed`.
    std::optional<Time> wake_at;
    bool wake_changed = true;
    std::optional<SessionRow> row;
    // Fails alone with alias_taken if another session listed by aliases() has row->alias.
    bool claims_alias = false;
    std::vector<PendingRow> pending;  // inserted or replaced by (call, generation)
    std::vector<KeyRow> keys;
    std::vector<ArtifactRow> artifacts;
    std::vector<OutboxRow> outbox;  // key.from == session; they stay when the session is deleted
    // Messages that it receives or gets back: their rows are deleted. In a store that several
    // processes open the append fails as `moved` if one has no row any more.
    std::vector<OutboxKey> taken = {};
    std::vector<SecretRow> secrets = {};
    // The append fails alone with precondition_failed unless this frame is still the newest one of
    // that session: a redaction may have removed there what it copies.
    std::optional<SourceFrame> source = {};
    // Accepted deliveries, for all sessions; they are no longer kept. The append fails alone as
    // `moved` if one is known.
    std::vector<DeliveredRow> delivered = {};
    // `pending` and `keys` are complete after event `rebuilt_after`: stored rows after it are
    // deleted first.
    bool rows_rebuilt = false;
    Seq rebuilt_after = 0;
    std::optional<BaseRow> base = {};  // REQUIRES: base->frame precedes the frame of this append
    std::optional<Rewrite> rewrite =
        {};  // REQUIRES: a `snapshot` unless `erase`; no frame of `base`
    std::optional<SnapshotRow> snapshot;  // replaces an older one
    std::vector<RuleRow> rules = {};      // made by it; they have no uses
    std::vector<RuleUse> rule_uses = {};  // of rules that exist; others are ignored
    std::vector<DayRow> day_sums = {};    // of one day, each name once
    std::vector<std::string> audit;       // lines added to the audit log
    std::optional<Bits128> create_key;    // remembered with the session for find_created()
    // session_deleted: all rows of the session are deleted, except its SessionRow (status
    // "deleted") and create_key.
    bool erase = false;
    // The first append of a deleted session that comes back: what is left of that session is
    // removed in the same transaction, except its create key, messages that wait for release, and
    // the deletion in the feed. Means nothing if it is not deleted. The append fails alone with
    // conflict if a message of it is still undelivered. REQUIRES: after == 0, no create_key if the
    // store knows it.
    bool restores = false;
};

// Why an append failed, alone or with its batch.
struct AppendError : Error {
    enum class Cause : std::uint8_t {
        failed,  // for the reason that `code` names
        // Another append to the session came first, another process drives it, or the store lost
        // some of its appends. Nothing was written: decide again on what is stored now. `code` is
        // store_unavailable, for callers that do not.
        moved,
        // The others declared this process dead. Nothing was written, and nothing will be until it
        // has a new epoch. `code` as above.
        fenced,
    };
    AppendError(Error error) : Error(std::move(error)) {}  // NOLINT(google-explicit-constructor)
    Cause cause = Cause::failed;
};
// The stamp of the session's newest frame after the append.
using AppendResult = std::expected<Stamp, AppendError>;
[[nodiscard]] AppendResult moved(SessionId session);
[[nodiscard]] AppendResult fenced();
// See Append::source.
[[nodiscard]] AppendError source_changed(SourceFrame const& source);
// The error of Append::restores.
[[nodiscard]] std::unexpected<Error> undelivered();

struct Loaded {
    std::optional<SessionRow> row;  // nullopt: no such session (or another session has this number)
    std::optional<SnapshotRow> snapshot;
    std::vector<Frame> tail;  // frames after the snapshot's seq (all, without a snapshot), in order
    Stamp stamp{};            // of the newest frame, whether `tail` has it or not
    Seq named = 0;  // the newest event that the row of its newest pause names; 0: there is no row
    bool wake_known = false;  // `wake_at` below is the stored value
    std::optional<Time> wake_at;
    Epoch driver = 0;  // 0: none
};

// A session with work to do. In a store that several processes open, also each session that has a
// driver, at time 0, because another process may have appended to it.
struct Due {
    Time at{};
    SessionId session;
    // Only of a store that several processes open:
    Epoch driver = 0;  // 0: none
    Seq head = 0;
};

// The projects that a question is about.
struct Projects {
    Projects() = default;  // none
    // NOLINTBEGIN(google-explicit-constructor,hicpp-explicit-conversions): most questions are about
    // one project
    Projects(std::string one) : names(std::vector{std::move(one)}) {}
    Projects(char const* one) : Projects(std::string(one)) {}
    // NOLINTEND(google-explicit-constructor,hicpp-explicit-conversions)
    [[nodiscard]] static Projects all() {
        Projects out;
        out.names.reset();
        return out;
    }
    [[nodiscard]] static Projects of(std::vector<std::string> some) {
        Projects out;
        out.names = std::move(some);
        return out;
    }
    [[nodiscard]] bool has(std::string_view name) const {
        return !names || std::ranges::find(*names, name) != names->end();
    }
    // The name, if the question is about one project by name; else null.
    [[nodiscard]] std::string const* single() const {
        return names && names->size() == 1 ? &names->front() : nullptr;
    }

    std::optional<std::vector<std::string>> names = std::vector<std::string>();  // nullopt: all
};

// The number of sessions of a project, without deleted ones; each at most the requested limit.
struct SessionCounts {
    std::uint32_t all = 0;
    std::uint32_t waiting = 0;  // with a waiting call
    std::uint32_t paused = 0;
    std::uint32_t error = 0;
    std::uint32_t completed = 0;
    std::uint32_t running = 0;  // due at time 0, or TurnState::running
    std::uint32_t failed = 0;   // TurnState::failed
    friend bool operator==(SessionCounts const&, SessionCounts const&) = default;
};

struct PendingFilter {
    Projects project = {};
    std::vector<PendingStatus> statuses = {};  // empty: all
    std::string tool = {};                     // empty: all
    std::optional<SessionId> session = {};
    std::string external_ref = {};  // Empty: all. REQUIRES: not combined with `session`.
    // Page: rows after this one in the order newest session first, then call and generation
    // descending.
    std::optional<PendingId> before = {};  // its nonce is ignored
    std::uint32_t limit = 50;
};

// Waiting calls of all projects.
struct OpenPending {
    std::uint64_t count = 0;  // at most the requested limit
    std::optional<Time> oldest;
    friend bool operator==(OpenPending const&, OpenPending const&) = default;
};

struct PendingListed {
    SessionId session;
    PendingRow row;
};

// The appends of all sessions in the order of their commits, numbered from 1; only the newest are
// stored. Readers of a project continue after a number.
struct FeedRow {
    std::uint64_t n = 0;
    SessionId session;
    std::string project;
    Frame frame;           // No bytes if `deleted`. Count 0: the append cannot be read.
    bool deleted = false;  // the append deleted the session; frame.first is its event
    Time at{};             // set if `deleted`
};
struct FeedPage {
    std::vector<FeedRow> rows;  // of the requested projects
    std::uint64_t next = 0;     // where to continue: everything up to this number has been read
    bool more = false;          // rows after `next` exist
    // Rows after the requested number are no longer stored; nothing else is set but `history`.
    bool gone = false;
    // Another number after the store fell back to an earlier state, as by the promotion of a
    // standby: what was read before may have been lost. 0: this store does not fall back.
    std::uint64_t history = 0;
};

// A secret that grants access. The secret itself is not stored, only its digest.
struct TokenRow {
    std::string id;
    // token, link (used once), cookie; revoked: no valid token, link or cookie has this secret
    std::string kind;
    std::string name;                        // whom it is for
    std::string role;                        // admin, operate, answer, read
    std::vector<std::string> projects = {};  // empty: all
    // Agents that it may start; empty: the defaults; "*": all.
    std::vector<std::string> agents = {};
    Sha256 secret{};  // digest of the secret's bytes
    Time created{};
    std::optional<Time> expires = {};

    friend bool operator==(TokenRow const&, TokenRow const&) = default;
};

// Atomic, with its line in the audit log.
struct TokenChange {
    std::optional<TokenRow> put = {};  // inserted, or replaces the row with its id
    // An id; empty: none. Its devices are removed with it. If the row does not exist: conflict, and
    // nothing is changed.
    std::string drop = {};
    std::string audit = {};  // a line; empty: none
};

// A browser that gets notifications (a subscription of the Push API).
struct DeviceRow {
    std::string id;
    std::string token;     // the id of the one that added it
    std::string person;    // the name of that token
    std::string role;      // its role
    std::string label;     // for people: "Firefox on Android"
    std::string endpoint;  // the URL at its push service; unique, and a secret
    std::string p256dh;    // its public key and its secret, in base64url
    std::string auth;
    Time created{};

    friend bool operator==(DeviceRow const&, DeviceRow const&) = default;
};

// Atomic, with its line in the audit log. Conflict, and nothing is changed: the token of the row to
// put or the device to drop does not exist.
struct DeviceChange {
    // Inserted, or replaces the row with its endpoint.
    std::optional<DeviceRow> put = {};
    std::string drop = {};   // an id; empty: none
    std::string audit = {};  // a line; empty: none
};

}  // namespace dormouse::port
