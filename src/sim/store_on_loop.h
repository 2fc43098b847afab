#pragma once
// A blocking store behind virtual time: the counterpart of io::StoreThread. Work takes time,
// results come later, and both can fail in every way that a store can.

#include "port/world.h"
#include "sim/flaky_store.h"
#include "sim/machine.h"

#include <array>
#include <functional>
#include <vector>

namespace dormouse::sim {

// Probability of each fault per commit or read, in per mille.
struct StoreFaults {
    unsigned commit_lost = 0;    // not durable, and reported as failed
    unsigned commit_hidden = 0;  // durable, but reported as failed
    unsigned append_lost = 0;    // one append of the batch fails alone
    unsigned sync_failed = 0;    // fail_stop until the process is replaced
    unsigned slow = 0;           // stalls for seconds
    unsigned read_failed = 0;    // of each read
};

class StoreOnLoop final : public port::Journal {
public:
    static constexpr std::size_t readers = 4;

    using Durable = std::function<void(port::Append const&)>;
    // All arguments must outlive this object. `durable` is called for each append at the instant
    // from which it cannot be lost.
    StoreOnLoop(Machine& machine, port::Store& store, StoreFaults const& faults, Durable durable);

    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<port::AppendResult>)> done) override;
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override;
    void read(port::ReadKey key, port::Fn<void(port::Store&)> work, port::Fn<void()> done) override;

    // Lets commits and reads wait from now on, as if the network to the store were cut; reconnect()
    // ends it.
    void cut() { cut_ = true; }
    void reconnect();
    [[nodiscard]] bool is_cut() const { return cut_; }

    // Makes the sync of the next commit fail.
    void break_down() { breaks_ = true; }
    // A sync has failed: this store writes nothing any more.
    [[nodiscard]] bool stopped() const { return stopped_; }
    // The process has had an answer that says so.
    [[nodiscard]] bool failure_reported() const { return failure_reported_; }

private:
    // Runs `work` on the store after `delay`, and later if the store is cut off then.
    void reach(Duration delay, port::Fn<void()> work);
    [[nodiscard]] std::vector<port::AppendResult> write(std::span<port::Append const> appends);
    void put(port::Append const& append, port::AppendResult& result);
    [[nodiscard]] Duration delay(Duration most);
    // A time not before the previous one of the same kind: results keep the order of calls.
    [[nodiscard]] Duration in_order(Duration delay, Duration& last) const;

    World& world_;
    Machine& machine_;
    port::Store& store_;
    StoreFaults const& faults_;
    Durable durable_;
    FlakyStore flaky_;
    std::vector<port::Fn<void()>> waiting_;  // for the network, in order
    bool cut_ = false;
    bool breaks_ = false;
    bool stopped_ = false;
    bool failure_reported_ = false;
    Duration last_commit_{0};
    std::array<Duration, readers> last_reads_{};  // of each thread
};

}  // namespace dormouse::sim
