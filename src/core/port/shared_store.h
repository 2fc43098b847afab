#pragma once
// What a store does besides, if several processes use it at the same time.

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

// What a heartbeat brings.
struct Beat {
    bool taken = false;          // this process still has its place among the nodes
    std::vector<NodeRow> nodes;  // by epoch
    std::uint64_t feed = 0;      // at least the newest number in the feed
    std::uint64_t access = 0;    // changes with the tokens, devices and rules
    Time clock{};                // of the store
    bool held = false;           // it is a copy that no person has released
    StoreFormat format = {};
};

// Session numbers that no other process uses: `count` of them from `first` on.
struct NumberBlock {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
};

// How a process hears at once what others say: because the store notifies it, or not at all.
enum class Signal : std::uint8_t { notify, poll };

// What processes that share a store say to each other. All of it are hints: any may be lost.
class Channel {
public:
    virtual ~Channel() = default;
    // Waits until the store or another process says something, at most for `limit`; returns all
    // that was said since, oldest first, also by this process. An empty text: tokens, devices or
    // rules have changed. Called by the thread of SharedStore::beat().
    [[nodiscard]] virtual Result<std::vector<std::string>> hear(Duration limit) = 0;
    // Ends that wait, or the next one. Any thread.
    virtual void end_wait() = 0;
    // Says this to all processes. Texts are valid UTF-8 without NUL, and at most said_max bytes
    // long. Called by one thread at a time, beside all other calls.
    [[nodiscard]] virtual Result<void> say(std::span<std::string const> texts) = 0;
    static constexpr std::size_t said_max = 7'900;
    // Why nothing is heard now; empty: it works, as far as known. Any thread.
    [[nodiscard]] virtual std::string failure() const = 0;
};

class SharedStore : public Channel {
public:
    // How this process describes itself to the others with each heartbeat.
    struct Self {
        Epoch epoch = 0;
        std::string url = {};
        std::string config = {};  // as in NodeRow
        bool draining = false;
    };
    // Counts a heartbeat. Called by one thread at a time, as remove(), beside all other calls.
    // Errors: store_unavailable (no answer within 2 s).
    [[nodiscard]] virtual Result<Beat> beat(Self const& self) = 0;
    // Takes the place of another process, unless it has counted a heartbeat since `seen` was read:
    // then false. From then on the store refuses its writes.
    [[nodiscard]] virtual Result<bool> remove(NodeRow const& seen) = 0;

    // Called by the writer. Takes part again under a new epoch, which it returns: appends that were
    // decided under an earlier one are `moved`.
    [[nodiscard]] virtual Result<Epoch> join() = 0;
    // Called by the writer.
    [[nodiscard]] virtual Result<NumberBlock> take_numbers() = 0;

    // Called by the writer, or before any other use. The value under this name, which all processes
    // have in common: `proposed`, if there was none.
    [[nodiscard]] virtual Result<std::string> agree(std::string const& name,
                                                    std::string const& proposed) = 0;
    // Called by the writer. Those of the pending messages that are due at `now` and that no other
    // process has taken, in order: this process alone delivers them, they are not due before
    // `until`.
    [[nodiscard]] virtual Result<std::vector<OutboxKey>> claim(std::span<OutboxKey const> keys,
                                                               Time now, Time until) = 0;

    // Called by the reader. As FeedStore::feed() of all projects, without what this process has
    // appended. `gone` also if the store fell back to an earlier state since the last call.
    [[nodiscard]] virtual Result<FeedPage> others(std::uint64_t after, std::size_t max_bytes) = 0;
};

}  // namespace dormouse::port
