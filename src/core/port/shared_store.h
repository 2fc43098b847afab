#pragma once
// The part of a store that several processes use at the same time.

#include "port/store_rows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dormouse::port {

// A process that works on a shared store, as the store describes it.
struct NodeRow {
    Epoch epoch = 0;
    std::uint32_t slot = 0;     // of its writer: the low 8 bits of its feed numbers
    std::uint64_t counter = 0;  // of its heartbeats
    std::string name = {};
    std::string release = {};
    std::string url = {};     // where it answers requests; empty: unknown
    std::string config = {};  // digest of what all processes must have in common, in hex
    bool draining = false;
    Time started{};           // by the clock of the store
    std::int64_t format = 0;  // the newest format of the store that it reads and writes
    friend bool operator==(NodeRow const&, NodeRow const&) = default;
};

// Releases of two formats can share a store: all write the older one until a person has finished
// the upgrade.
struct StoreFormat {
    std::int64_t newest = 0;   // the newest release that ever opened the store has this one
    std::int64_t written = 0;  // a release that does not read this one is refused
    friend bool operator==(StoreFormat const&, StoreFormat const&) = default;
};

// The store's reply to a heartbeat.
struct HeartbeatReply {
    bool taken = false;          // this process still has its place among the nodes
    std::vector<NodeRow> nodes;  // by epoch
    std::uint64_t feed = 0;      // at least the newest number in the feed
    std::uint64_t access = 0;    // changes with the tokens, devices and rules
    Time clock{};                // of the store
    bool held = false;           // the store is a restored copy that no person has released
    StoreFormat format = {};
};

// Session numbers that no other process uses: `count` of them from `first` on.
struct NumberBlock {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
};

// The way in which a process receives the messages of the others: the store notifies it, or it
// polls.
enum class Signal : std::uint8_t { notify, poll };

// Messages between the processes that share a store. They are hints: any may be lost.
class Channel {
public:
    virtual ~Channel() = default;
    // Waits for a message, at most for `limit`. Returns all messages since the last call, oldest
    // first, also those of this process. An empty message: tokens, devices or rules have changed.
    // Called by the thread of SharedStore::beat().
    [[nodiscard]] virtual Result<std::vector<std::string>> receive(Duration limit) = 0;
    // Ends that wait, or the next one. Any thread.
    virtual void end_wait() = 0;
    // Sends messages to all processes. Each is valid UTF-8 without NUL, and at most
    // message_bytes_max bytes long. Called by one thread at a time, beside all other calls.
    [[nodiscard]] virtual Result<void> publish(std::span<std::string const> messages) = 0;
    static constexpr std::size_t message_bytes_max = 7'900;
    // Returns why no message arrives now; empty: the channel works, as far as known. Any thread.
    [[nodiscard]] virtual std::string failure() const = 0;
};

// A small value that the processes have in common and change.
struct SharedValue {
    std::string name;
    std::string value;  // empty: it is damaged
    std::string mark;   // of this version
    friend bool operator==(SharedValue const&, SharedValue const&) = default;
};

class SharedValues {
public:
    virtual ~SharedValues() = default;
    // Returns the values whose names begin with `prefix`, by name. Called by the writer, or before
    // any other use.
    [[nodiscard]] virtual Result<std::vector<SharedValue>> values(std::string const& prefix) = 0;
    // Replaces the version `mark`; an empty one: adds the value. Returns false and changes nothing
    // if another version is stored, which may be the one of an earlier call whose answer was lost.
    // Called by the writer.
    [[nodiscard]] virtual Result<bool> exchange(SharedValue const& next) = 0;
};

class SharedStore : public Channel, public SharedValues {
public:
    // The description of this process in each heartbeat.
    struct Self {
        Epoch epoch = 0;
        std::string url = {};
        std::string config = {};  // as in NodeRow
        bool draining = false;
    };
    // Counts a heartbeat. Called by one thread at a time, as remove(), beside all other calls.
    // Errors: store_unavailable (no answer within 2 s).
    [[nodiscard]] virtual Result<HeartbeatReply> beat(Self const& self) = 0;
    // Takes the place of another process, unless it has counted a heartbeat since `seen` was read:
    // then false. From then on the store refuses its writes.
    [[nodiscard]] virtual Result<bool> remove(NodeRow const& seen) = 0;

    // Called by the writer. Takes part again under a new epoch, which it returns: appends that were
    // decided under an earlier one are `moved`.
    [[nodiscard]] virtual Result<Epoch> join() = 0;
    // Called by the writer.
    [[nodiscard]] virtual Result<NumberBlock> take_numbers() = 0;

    // Returns the value under this name, which all processes have in common: `proposed`, if there
    // was none. Called by the writer, or before any other use.
    [[nodiscard]] virtual Result<std::string> agree(std::string const& name,
                                                    std::string const& proposed) = 0;
    // Returns those of the pending messages that are due at `now` and that no other process has
    // claimed, in order. This process alone delivers them: they are not due before `until`. Called
    // by the writer.
    [[nodiscard]] virtual Result<std::vector<OutboxKey>> claim(std::span<OutboxKey const> keys,
                                                               Time now, Time until) = 0;
    // Claims of this process that have not ended: they last until `until` from now on. Returns
    // those that are still its own, in order. May be repeated with the same `until`. Called by the
    // writer.
    [[nodiscard]] virtual Result<std::vector<OutboxKey>> renew(std::span<OutboxClaim const> claims,
                                                               Time until) = 0;
    // Returns true if a message to this target was delivered at `since` or later. Called by the
    // reader.
    [[nodiscard]] virtual Result<bool> delivered_since(std::string const& target, Time since) = 0;

    // Returns FeedStore::feed() of all projects without the appends of this process. Called by the
    // reader. Errors: also `gone`, if the store fell back to an earlier state since the last call.
    [[nodiscard]] virtual Result<FeedPage> others(std::uint64_t after, std::size_t max_bytes) = 0;
};

}  // namespace dormouse::port
