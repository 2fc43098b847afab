#pragma once
// The rows that a store keeps, and the filters of its lists. Plain values.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/time.h>

#include "port/audit.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dormouse::port {

// The events of one append, packed by wire/record.h. Opaque here. Checksummed by the store with its
// key.
struct Frame {
    Seq first = 0;            // sequence number of its first event
    std::uint32_t count = 0;  // number of events in it
    std::string bytes;
};

// What lists show of a session without reading its journal. Written when one of these fields
// changes.
struct SessionRow {
    SessionId id;
    std::string project;
    std::string agent;
    std::string alias;   // empty: none
    std::string title;   // empty: none
    std::string status;  // active, paused, completed, error, deleted
    Time created{};
    Time updated{};  // when this row was last written
};

// A session and its newest event.
struct SessionHead {
    SessionId session;
    Seq head = 0;
    friend bool operator==(SessionHead const&, SessionHead const&) = default;
};

enum class PendingStatus : std::uint8_t { waiting, completed, failed, expired, cancelled };

// One pause of one call (table pending_tool_calls). Content stays in the journal: `paused` and
// `settled` are the events that hold it.
struct PendingRow {
    CallNo call = 0;
    Generation generation = 0;
    PendingStatus status = PendingStatus::waiting;
    std::string tool;
    Time created{};
    std::optional<Time> timeout;    // deadline
    Seq paused = 0;                 // tool_started, call_paused or gate_asked that opened it
    Seq settled = 0;                // the settling event (its receipt); 0 while open
    std::string external_ref = {};  // what the job calls itself; empty: nothing

    friend bool operator==(PendingRow const&, PendingRow const&) = default;
};

// What is closed is found by key. Never changed once written. `key` is short bytes (at most 64).
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

// Bytes that are too large for a record, kept under the event that names them.
struct ArtifactRow {
    Seq seq = 0;
    std::shared_ptr<std::string const> bytes;  // never null
};

// What a session sends and does not wait for. Stored with the append that sends it.
struct PostKey {
    SessionId from;
    Seq seq = 0;  // the event that sends it
    std::uint32_t n = 0;
    friend auto operator<=>(PostKey const&, PostKey const&) = default;
};

// `dead` and `disabled` are tried no more, `delivered` is kept so that its outcome can be read.
enum class PostState : std::uint8_t { pending, delivered, dead, disabled };

struct PostRow {
    PostKey key;
    std::string kind;    // who delivers it: "session", "webhook"
    std::string target;  // the id of a session, a URL
    std::string body;    // opaque here. Checksummed by the store with its key.
    // The session that its delivery makes. Its number is taken from now on.
    std::optional<SessionId> makes = {};
    PostState state = PostState::pending;
    Time created{};
    Time next_at{};  // while it is pending: when it is to be tried; given up: since when
    std::uint32_t attempts = 0;
    std::int32_t last_status = 0;  // of HTTP; 0: none
    std::string last_error = {};
    std::optional<Time> delivered = {};
    friend bool operator==(PostRow const&, PostRow const&) = default;
};

// A post to somebody who is no session, whose time has come.
struct DuePost {
    PostKey key;
    std::string target;
    std::uint32_t attempts = 0;  // that failed
    friend bool operator==(DuePost const&, DuePost const&) = default;
};

// What became of a post. Nothing else of its row ever changes.
struct PostUpdate {
    PostKey key;
    bool gone = false;  // its row goes; the rest says nothing
    PostState state = PostState::pending;
    Time next_at{};
    std::uint32_t attempts = 0;
    std::int32_t last_status = 0;
    std::string last_error = {};
    std::optional<Time> delivered = {};
};

// What lists show of posts to others than sessions.
struct PostFilter {
    std::string project = {};
    std::optional<PostState> state = {};  // nullopt: all
    std::optional<PostKey> before = {};   // page: smaller keys only
    std::uint32_t limit = 50;
};

// What signs the webhooks of one pause and is in no record. Replaces an older one.
struct SecretRow {
    CallNo call = 0;
    Generation generation = 0;
    std::string secret;
};

// A delivery of a source that has been taken. `digest`: of its body.
struct DeliveredRow {
    Bits128 key{};
    Bits128 digest{};
};

// A signed payload for which no call was there, kept until one comes.
struct KeptRow {
    DeliveredRow delivery;
    std::string delivery_id;
    Time at{};
    std::string source;
    std::string project;
    std::string reference;  // the externalRef that its call will have
    std::string body;
};

// What stays of a session's oldest frames, which go: a frame in the place of the last of them,
// which it has the place of. With them go the closed pending rows up to `through`, keys up to it
// whose first byte is in `keys`, secrets of calls up to `call`, and artifacts up to it that are not
// kept.
struct BaseRow {
    Frame frame;
    Seq through = 0;
    CallNo call = 0;
    std::string keys;
    std::vector<Seq> artifacts;  // that stay
};

// One session's append: whole or not at all. Fails alone with conflict when the session's head is
// not `after`.
struct Append {
    SessionId session;
    Epoch epoch = 0;
    Seq after = 0;  // the head that it was decided on
    Frame frame;    // frame.first == after + 1
    // The earliest time of outstanding work; nullopt: the session sleeps. Written only when
    // `wake_changed`.
    std::optional<Time> wake_at;
    bool wake_changed = true;
    std::optional<SessionRow> row;
    // Fails alone with alias_taken when another session that aliases() lists has row->alias.
    bool claims_alias = false;
    std::vector<PendingRow> pending;  // inserted or replaced by (call, generation)
    std::vector<KeyRow> keys;
    std::vector<ArtifactRow> artifacts;
    std::vector<PostRow> posts;       // key.from == session; they stay when the session goes
    std::vector<PostKey> taken = {};  // posts that it receives or gets back: their rows go
    std::vector<SecretRow> secrets = {};
    // Remembered for every session; none of them is kept any more. Those that are known stay.
    std::vector<DeliveredRow> delivered = {};
    // `pending` and `keys` are all that there are after event `anew_after`: what stood there goes
    // first.
    bool rows_anew = false;
    Seq anew_after = 0;
    std::optional<BaseRow> base = {};     // REQUIRES: base->frame is before this append's
    std::optional<SnapshotRow> snapshot;  // replaces an older one
    std::vector<std::string> audit;       // lines that are added to the audit
    std::optional<Bits128> create_key;    // remembered with the session for find_created()
    // session_deleted: every row of the session goes, except its SessionRow (status "deleted") and
    // create_key.
    bool erase = false;
};

struct Loaded {
    std::optional<SessionRow>
        row;  // nullopt: no such session (or another session under this number)
    std::optional<SnapshotRow> snapshot;
    std::vector<Frame> tail;  // frames after the snapshot's seq (all, without one), in order
    bool wake_known = false;  // `wake_at` below is what is stored
    std::optional<Time> wake_at;
};

struct Due {
    Time at{};
    SessionId session;
};

struct PendingFilter {
    std::string project = {};
    std::vector<PendingStatus> statuses = {};  // empty: all
    std::string tool = {};                     // empty: all
    std::optional<SessionId> session = {};
    std::string external_ref = {};  // empty: all. REQUIRES: `session` is not given with it.
    // Page: rows before this one in the order newest session first, then call and generation
    // descending.
    std::optional<PendingId> before = {};  // nonce ignored
    std::uint32_t limit = 50;
};

// The calls that wait, of all projects.
struct OpenPending {
    std::uint64_t count = 0;  // at most the limit that was asked for
    std::optional<Time> oldest;
    friend bool operator==(OpenPending const&, OpenPending const&) = default;
};

struct PendingListed {
    SessionId session;
    PendingRow row;
};

// The appends of all sessions in the order of their commits, numbered from 1; only the newest are
// kept. What follows a project goes on from a number.
struct FeedRow {
    std::uint64_t n = 0;
    SessionId session;
    Frame frame;           // no bytes when `deleted`; count 0: the append cannot be read
    bool deleted = false;  // the append that deleted the session; frame.first is its event
    Time at{};             // when `deleted`
};
struct FeedPage {
    std::vector<FeedRow> rows;  // of the project that was asked for
    std::uint64_t next = 0;     // where to go on: everything up to this number has been looked at
    bool more = false;          // there is something after `next`
    bool gone =
        false;  // rows after the number asked for are not kept any more; nothing else is set
};

// A secret that lets somebody in, and what for. The secret itself is nowhere: only its digest.
struct TokenRow {
    std::string id;
    std::string kind;                        // token, link (spent once), cookie
    std::string name;                        // who it is for
    std::string role;                        // admin, operate, answer, read
    std::vector<std::string> projects = {};  // empty: all
    std::vector<std::string> agents = {};    // that may be started; empty: the defaults; "*": all
    Sha256 secret{};                         // of the secret's bytes
    Time created{};
    std::optional<Time> expires = {};

    friend bool operator==(TokenRow const&, TokenRow const&) = default;
};

// Whole or not at all, with its line in the audit.
struct TokenChange {
    std::optional<TokenRow> put = {};  // inserted, or replaces the row with its id
    std::string drop = {};             // an id; empty: none. No such row: conflict, nothing is done
    std::string audit = {};            // a line; empty: none
};

}  // namespace dormouse::port
